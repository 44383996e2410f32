"""Certificates, made by openssl."""

import subprocess


class Authority:
    """Signs certificates, and keeps them in a directory: NAME.pem and NAME.key, and its own in ca.pem."""

    def __init__(self, directory):
        directory.mkdir(parents=True)
        self._directory = directory
        self._openssl("req", "-x509", *self._key("ca"), "-days", "2", "-out", self.file("ca.pem"))
        # Without any extension, certificates are of a version that few accept.
        (directory / "extensions").write_text("basicConstraints=critical,CA:FALSE\n")

    def file(self, name):
        return str(self._directory / name)

    def sign(self, name):
        self._openssl("req", *self._key(name), "-out", self.file(f"{name}.csr"))
        self._openssl(
            "x509", "-req", "-in", self.file(f"{name}.csr"), "-CA", self.file("ca.pem"), "-CAkey", self.file("ca.key"), "-CAcreateserial",
            "-days", "2", "-extfile", self.file("extensions"), "-out", self.file(f"{name}.pem"),
        )

    def _key(self, name):
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
        return (*curve, "-nodes", "-keyout", self.file(f"{name}.key"), "-subj", f"/CN={self._directory.name} {name}")

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)
