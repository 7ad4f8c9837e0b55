// Strided arrays inside kernels: what CuPy's ElementwiseKernel and ReductionKernel index.
#ifndef TRILANE_STRIDED_H_INCLUDED
#define TRILANE_STRIDED_H_INCLUDED

// What the host passes by value beside an array's pointer. Strides in bytes.
template <int N>
struct CLayout {
    ptrdiff_t size;
    ptrdiff_t shape[N > 0 ? N : 1];
    ptrdiff_t strides[N > 0 ? N : 1];
};

template <typename T, int N, bool Contiguous = false>
class CArray {
  public:
    typedef T value_type;
    static const int ndim = N;

    __device__ CArray(T* data, const CLayout<N>& layout) : data_(data), layout_(layout) {}

    __device__ ptrdiff_t size() const { return layout_.size; }
    __device__ const ptrdiff_t* shape() const { return layout_.shape; }
    __device__ const ptrdiff_t* strides() const { return layout_.strides; }

    // By one index per axis.
    template <typename Int>
    __device__ T& operator[](const Int (&index)[N > 0 ? N : 1]) const {
        return *at(index);
    }
    // By position in C order.
    __device__ T& operator[](ptrdiff_t i) const {
        if (Contiguous || N == 0) return data_[N == 0 ? 0 : i];
        address_type address = reinterpret_cast<address_type>(data_);
#pragma unroll
        for (int axis = N - 1; axis > 0; --axis) {
            const ptrdiff_t extent = layout_.shape[axis];
            address += layout_.strides[axis] * (i % extent);
            i /= extent;
        }
        if (N > 0) address += layout_.strides[0] * i;
        return *reinterpret_cast<T*>(address);
    }

  private:
    template <typename U>
    struct bytes_of {
        typedef char* type;
    };
    template <typename U>
    struct bytes_of<const U> {
        typedef const char* type;
    };
    typedef typename bytes_of<T>::type address_type;

    template <typename Int>
    __device__ T* at(const Int* index) const {
        address_type address = reinterpret_cast<address_type>(data_);
#pragma unroll
        for (int axis = 0; axis < N; ++axis) {
            address += layout_.strides[axis] * static_cast<ptrdiff_t>(index[axis]);
        }
        return reinterpret_cast<T*>(address);
    }

    T* data_;
    const CLayout<N>& layout_;
};

// The loop's place: a position in C order and the index per axis that belongs to it.
template <int N>
class CIndexer {
  public:
    static const int ndim = N;

    __device__ explicit CIndexer(const CLayout<N>& layout) : layout_(layout) {}

    __device__ ptrdiff_t size() const { return layout_.size; }
    __device__ const ptrdiff_t* shape() const { return layout_.shape; }
    __device__ void set(ptrdiff_t i) {
        index_[0] = 0;
#pragma unroll
        for (int axis = N - 1; axis > 0; --axis) {
            const ptrdiff_t extent = layout_.shape[axis];
            index_[axis] = i % extent;
            i /= extent;
        }
        if (N > 0) index_[0] = i;
    }
    __device__ const ptrdiff_t (&get() const)[N > 0 ? N : 1] { return index_; }

  private:
    const CLayout<N>& layout_;
    ptrdiff_t index_[N > 0 ? N : 1];
};

#endif  // TRILANE_STRIDED_H_INCLUDED
