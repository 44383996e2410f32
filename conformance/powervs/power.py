"""power-iaas over plain HTTP: the service has no complete client on PyPI (for the Go one see goclient/)."""

import requests

# Only a failure waits so long.
TIMEOUT = 120


class Power:
    """One workspace; paths that begin with a dot are within it."""

    def __init__(self, url, token, account, workspace, ca_file):
        self.url, self.account, self.workspace = url, account, workspace
        self.base = f"/pcloud/v1/cloud-instances/{workspace}"
        self.session = requests.Session()
        self.session.verify = ca_file
        self.session.headers["Authorization"] = f"Bearer {token}"
        self.session.headers["CRN"] = f"crn:v1:staging:public:power-iaas:dal10:a/{account}:{workspace}::"

    def call(self, method, path, **arguments):
        path = self.base + path[1:] if path.startswith(".") else path
        return self.session.request(method, self.url + path, timeout=TIMEOUT, **arguments)

    def get(self, path, **arguments):
        return self.call("GET", path, **arguments)

    def post(self, path, body=None):
        return self.call("POST", path, json=body)

    def delete(self, path, **arguments):
        return self.call("DELETE", path, **arguments)
