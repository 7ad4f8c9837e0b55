"""CuPy: k-means and linear regression, whole programs of array expressions."""

import cupy as cp
import numpy as np


def kmeans(samples, centers, iterations):
    for _ in range(iterations):
        distances = cp.linalg.norm(samples[:, None, :] - centers[None, :, :], axis=2)
        labels = cp.argmin(distances, axis=1)
        mask = labels == cp.arange(len(centers))[:, None]
        sums = cp.where(mask[:, :, None], samples, 0).sum(axis=1)
        counts = cp.count_nonzero(mask, axis=1).reshape(-1, 1)
        centers = sums / cp.maximum(counts, 1)
    return centers, labels


rng = np.random.default_rng(3)
true_centers = np.array([[0.0, 0], [8, 8], [-8, 8]])
points = np.concatenate([c + rng.normal(size=(200, 2)) for c in true_centers])
centers, labels = kmeans(cp.asarray(points), cp.asarray(points[[0, 200, 400]]), 10)
np.testing.assert_allclose(centers.get(), true_centers, atol=0.3)
assert cp.bincount(labels).get().tolist() == [200, 200, 200]

cp.random.seed(7)
X = cp.random.standard_normal((500, 3))
weights = cp.array([1.5, -2.0, 0.5])
noise = cp.random.normal(0, 0.01, 500)
t = X.dot(weights) + noise
w = cp.zeros(3)
for _ in range(200):
    gradient = X.T.dot(X.dot(w) - t) / len(t)
    w -= 0.3 * gradient
cp.testing.assert_allclose(w, weights, atol=0.01)
choice = cp.random.randint(0, 10, size=1000)
assert 0 <= int(choice.min()) and int(choice.max()) <= 9
permuted = cp.random.permutation(100)
np.testing.assert_array_equal(cp.sort(permuted).get(), np.arange(100))
print("ok")
