"""Getting in: certificates, tokens, passwords, sessions, and what a refusal looks like to the SDK."""

import ovirtsdk4 as sdk
import pytest


def test_the_api_root_names_the_product(connection):
    api = connection.system_service().get()
    assert api.product_info.version.major == 4
    assert api.product_info.version.full_version.startswith("4.")
    assert api.special_objects.blank_template.id == "00000000-0000-0000-0000-000000000000"
    assert api.special_objects.root_tag.id == "00000000-0000-0000-0000-000000000000"
    assert api.time is not None
    assert api.summary.hosts.total >= 1


def test_connection_test_succeeds(connection):
    assert connection.test(raise_exception=True)


def test_a_token_is_issued_once_and_works_alone(connect, engine):
    first = connect(engine)
    first.system_service().get()
    token = first.authenticate()
    assert token == first.authenticate()
    second = connect(engine, username=None, password=None, token=token)
    assert second.system_service().get().product_info.name
    assert second.authenticate() == token


def test_a_closed_connection_ends_its_token(connect, engine):
    first = connect(engine)
    token = first.authenticate()
    first.close()
    stale = connect(engine, username=None, password=None, token=token)
    with pytest.raises(sdk.Error):
        stale.system_service().get()


def test_a_wrong_password_is_an_authentication_error(connect, engine):
    wrong = connect(engine, password="not the password")
    with pytest.raises(sdk.AuthError) as refused:
        wrong.system_service().get()
    assert "access_denied" in str(refused.value)


def test_an_unknown_user_is_refused_the_same_way(connect, engine):
    wrong = connect(engine, username="nobody@internal")
    with pytest.raises(sdk.AuthError) as refused:
        wrong.system_service().get()
    assert "access_denied" in str(refused.value)


def test_a_token_that_was_never_issued_is_refused(connect, engine):
    forged = connect(engine, username=None, password=None, token="forged")
    with pytest.raises(sdk.Error):
        forged.system_service().get()


def test_the_certificate_is_not_trusted_by_default(connect, engine):
    distrustful = connect(engine, ca_file="/etc/ssl/certs/ca-certificates.crt")
    with pytest.raises(sdk.Error) as refused:
        distrustful.system_service().get()
    assert "certificate" in str(refused.value).lower()


def test_the_ca_can_be_fetched_without_credentials_and_then_verifies(engine, connect, tmp_path):
    import ssl
    import urllib.request

    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    url = f"{engine.api_url[: -len('/api')]}/services/pki-resource?resource=ca-certificate&format=X509-PEM-CA"
    with urllib.request.urlopen(url, context=context) as answer:
        pem = answer.read()
    assert pem.startswith(b"-----BEGIN CERTIFICATE-----")
    fetched = tmp_path / "ca.pem"
    fetched.write_bytes(pem)
    assert connect(engine, ca_file=str(fetched)).system_service().get().product_info.name


def test_basic_authentication_works_without_a_token(engine):
    import base64
    import ssl
    import urllib.request
    import xml.etree.ElementTree as xml

    credentials = base64.b64encode(f"{engine.user}:{engine.password}".encode()).decode()
    request = urllib.request.Request(
        f"{engine.api_url}/clusters", headers={"Authorization": f"Basic {credentials}", "Accept": "application/xml"}
    )
    context = ssl.create_default_context(cafile=engine.ca_file)
    with urllib.request.urlopen(request, context=context) as answer:
        assert xml.fromstring(answer.read()).tag == "clusters"


def test_compressed_and_uncompressed_answers_agree(connect, engine):
    plain = connect(engine, compress=False).system_service().clusters_service().list()
    packed = connect(engine, compress=True).system_service().clusters_service().list()
    assert [c.id for c in plain] == [c.id for c in packed]
