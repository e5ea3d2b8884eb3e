"""Plays `docker buildx` for a rehearsal, with the engine's own builder and a registry on loopback.

What `release.yml` asks of buildx, and nothing else: an option that is not known is an error. The
images that a build starts from are put into the registry, so that they have digests. There is no
bill of materials: its place is held by an empty document.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

REGISTRY = os.environ.get("REGISTRY", "")
METADATA = {"SchemaVersion": "0.1.0", "Vendor": "registrar", "ShortDescription": "Rehearsal"}
OUTPUT = re.compile("type=image,name=([^,]+),push=true,push-by-digest=true,name-canonical=true")
MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
LIST = "application/vnd.docker.distribution.manifest.list.v2+json"


def docker(*arguments: str) -> None:
    """Run a command of the engine; what it says goes to standard error, as buildx's does."""
    # Its builder is chosen by a variable where a plugin is called buildx
    env = {**os.environ, "DOCKER_BUILDKIT": "0"}
    subprocess.run(["docker", *arguments], check=True, stdout=sys.stderr, env=env)


def call(
    method: str, image: str, reference: str, body: bytes | None = None, kind: str = ""
) -> tuple[bytes, str, str]:
    """Ask the registry for a manifest, or give it one: body, digest and media type."""
    name = image.removeprefix(f"{REGISTRY}/")
    headers = {"Accept": f"{LIST}, {MANIFEST}"} | ({"Content-Type": kind} if kind else {})
    url = f"http://{REGISTRY}/v2/{name}/manifests/{reference}"
    request = urllib.request.Request(url, body, headers, method=method)
    with urllib.request.urlopen(request) as answer:  # noqa: S310 (loopback)
        headers = answer.headers
        return answer.read(), headers["Docker-Content-Digest"], headers.get("Content-Type", "")


def split(image: str) -> tuple[str, str]:
    """A name, and its digest or tag."""
    name, at, digest = image.partition("@")
    if at:
        return name, digest
    name, colon, tag = image.rpartition(":")
    return (name, tag) if colon and "/" not in tag else (image, "latest")


def build(given: argparse.Namespace) -> None:
    """Build, push, and write the digest down."""
    image = OUTPUT.fullmatch(given.output)
    if not image:
        sys.exit(f"unknown output: {given.output}")
    tag = f"{image[1]}:built-for-{given.platform.replace('/', '-')}"
    # By their digests, from where `inspect` has put them
    bases = [each.replace("=", f"={REGISTRY}/", 1) for each in given.build_arg]
    docker(
        *("build", "--quiet", "--network=host", f"--tag={tag}"),
        *(f"--build-arg={each}" for each in bases),
        *(f"--label={each}" for each in given.label),
        given.context,
    )
    docker("push", "--quiet", tag)
    _, digest, _ = call("HEAD", *split(tag))
    given.metadata_file.write_text(json.dumps({"containerimage.digest": digest}), "utf-8")


def create(given: argparse.Namespace) -> None:
    """Make one image of several: a list of manifests."""
    found = {}
    for source in given.sources:
        manifest, digest, kind = call("GET", *split(source))
        config = json.loads(manifest)["config"]["digest"]
        name = split(source)[0].removeprefix(f"{REGISTRY}/")
        with urllib.request.urlopen(f"http://{REGISTRY}/v2/{name}/blobs/{config}") as answer:
            about = json.load(answer)
        found[digest] = {
            "mediaType": kind,
            "size": len(manifest),
            "digest": digest,
            "platform": {"architecture": about["architecture"], "os": about["os"]},
        }
    body = {"schemaVersion": 2, "mediaType": LIST, "manifests": list(found.values())}
    call("PUT", *split(given.tag), json.dumps(body).encode(), LIST)


def inspect(given: argparse.Namespace) -> None:
    """Print the digest of an image, or its bill of materials."""
    if ".SBOM" in given.format:
        print(json.dumps({"spdxVersion": "SPDX-2.3"}))
        return
    if given.format != "{{.Manifest.Digest}}":
        sys.exit(f"unknown format: {given.format}")
    name = given.image
    if not name.startswith(f"{REGISTRY}/"):
        name = f"{REGISTRY}/{name}"
        docker("tag", given.image, name)
        docker("push", "--quiet", name)
    print(call("HEAD", *split(name))[1])


def main() -> None:
    """Do what a command line of buildx says."""
    parser = argparse.ArgumentParser(prog="docker buildx", allow_abbrev=False)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("create")
    command.add_argument("--use", action="store_true", required=True)
    command.set_defaults(run=lambda _: None)
    command = commands.add_parser("build")
    command.add_argument("context")
    for option in ("--build-arg", "--label"):
        command.add_argument(option, action="append", default=[])
    for option in ("--platform", "--provenance", "--sbom", "--output"):
        command.add_argument(option, required=True)
    command.add_argument("--metadata-file", type=Path, required=True)
    command.set_defaults(run=build)
    tools = commands.add_parser("imagetools").add_subparsers(required=True)
    command = tools.add_parser("create")
    command.add_argument("--tag", required=True)
    command.add_argument("sources", nargs="+")
    command.set_defaults(run=create)
    command = tools.add_parser("inspect")
    command.add_argument("image")
    command.add_argument("--format", required=True)
    command.set_defaults(run=inspect)
    given = parser.parse_args(sys.argv[2:])
    given.run(given)


if __name__ == "__main__":
    if sys.argv[1:] == ["docker-cli-plugin-metadata"]:
        print(json.dumps(METADATA))
    else:
        main()
