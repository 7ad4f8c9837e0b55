"""Bring a peer's released test files into work/PEER/, once."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tests.suites.peers import PEERS, Archive, Peer

# pip can download a source package only by building its metadata, which needs the peer's own
# compilers; its finder and session give the file itself, with the user's configuration.
_SDIST = """
import sys
from pip._internal.commands import create_command
name, version, out = sys.argv[1:]
command = create_command("download")
with command.main_context():
    options, _ = command.parse_args(["--no-deps", name])
    session = command.get_default_session(options)
    finder = command._build_package_finder(options, session)
    links = [c.link for c in finder.find_all_candidates(name)
             if str(c.version) == version and c.link.filename.endswith(".tar.gz")]
    if not links:
        raise SystemExit(f"no source package {name} {version}")
    answer = session.get(links[0].url_without_fragment)
    answer.raise_for_status()
    import hashlib
    digest = hashlib.new(links[0].hash_name or "sha256", answer.content).hexdigest()
    if links[0].hash and digest != links[0].hash:
        raise SystemExit(f"{links[0].filename}: hash differs from the index's")
    open(f"{out}/{links[0].filename}", "wb").write(answer.content)
"""


def fetch(peer: Peer) -> None:
    """Download and unpack every archive of the peer; does nothing when that was done before."""
    marker = peer.work / "fetched"
    wanted = "\n".join(f"{a.package} {a.version} {sorted(a.members)}" for a in peer.archives)
    if marker.exists() and marker.read_text() == wanted:
        return
    downloads = peer.work / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    for archive in peer.archives:
        print(f"fetching {archive.package} {archive.version}", flush=True)
        _unpack(_download(archive, downloads), archive, peer.work)
    marker.write_text(wanted)


def _download(archive: Archive, downloads: Path) -> Path:
    pattern = f"{archive.package.replace('-', '?')}-{archive.version}*"
    if not list(downloads.glob(pattern)):
        if archive.kind == "sdist":
            command = ["-c", _SDIST, archive.package, archive.version, str(downloads)]
        else:
            name = f"{archive.package}=={archive.version}"
            command = ["-m", "pip", "download", "-q", "--no-deps", "-d", str(downloads), name]
        subprocess.run([sys.executable, *command], check=True)
    return next(downloads.glob(pattern))


def _unpack(path: Path, archive: Archive, work: Path) -> None:
    count = 0
    for name, data in _members(path):
        for prefix, folder in archive.members.items():
            if not name.startswith(prefix) or ".." in name:
                continue
            target = work / folder / name[len(prefix) :] if prefix.endswith("/") else work / folder
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            count += 1
    if count == 0:
        raise SystemExit(f"{path.name}: holds none of {sorted(archive.members)}")


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if not name.endswith("/"):
                    yield name, archive.read(name)
        return
    with tarfile.open(path) as archive:
        for member in archive.getmembers():
            if member.isfile():
                stream = archive.extractfile(member)
                assert stream is not None
                yield member.name, stream.read()


def main() -> None:
    """Fetch every peer's tests, for a run on a machine that has no network."""
    for peer in PEERS.values():
        fetch(peer)


if __name__ == "__main__":
    main()
