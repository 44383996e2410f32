"""Virtual Fibre Channel ports of instances (NPIV), by which they see volumes themselves.

They are chosen before Cinder is told about them, which is before the instance is made, and noted with the instance: the storage server
knows an instance by the names of its ports, wherever it is.

Each port has two names. The first is in use; a live migration logs in with the second on the other host while the first is still in use,
and from then on they have changed places. So Cinder is told the one for each host alone: it lets the second in when the instance is
expected there, and shuts the first out when the instance has gone.
"""

KEY = "landfall_powervm_port_"
# Those on the host that expects an instance.
NEXT = "landfall_powervm_next_port_"


def noted(instance):
    """The ports that were chosen for an instance."""
    return [_port(words.split(" ")) for words in _values(instance.system_metadata, KEY)]


def note(instance, ports):
    _replace(instance.system_metadata, KEY, [_words(port) for port in ports])
    instance.save()


def noted_next(metadata):
    """The ports that were chosen for an instance on the host that expects it, from its metadata."""
    found = []
    for words in _values(metadata, NEXT):
        # The name of a VIOS may have spaces.
        *port, number, name = words.split(" ", 5)
        found.append({**_port(port), "vios_number": int(number), "vios_name": name})
    return found


def put_next(metadata, ports):
    """Puts them into an instance's metadata, instead of any that were there."""
    _replace(metadata, NEXT, [f"{_words(port)} {port['vios_number']} {port['vios_name']}" for port in ports])


def arrive(metadata):
    """The instance has come: the ports that it was expected with are its ports."""
    ports = noted_next(metadata)
    if ports:
        _replace(metadata, KEY, [_words(port) for port in ports])
    put_next(metadata, [])


def _values(metadata, prefix):
    return [metadata[key] for key in sorted(key for key in metadata if key.startswith(prefix))]


def _replace(metadata, prefix, values):
    for key in [key for key in metadata if key.startswith(prefix)]:
        del metadata[key]
    metadata.update({f"{prefix}{number:02}": value for number, value in enumerate(values)})


def _port(words):
    vios, port, first, second = words
    return {"vios": vios, "port": port, "wwpns": [first, second]}


def _words(port):
    return " ".join([port["vios"], port["port"], *port["wwpns"]])


def coming(known, fabrics):
    """The ports of an instance that comes, each with the ports of this host's VIOSes on its fabric; nothing if the number of fabrics
    cannot be the same."""
    if not fabrics or len(known) % len(fabrics):
        return None
    each = len(known) // len(fabrics)
    return [{**port, "fabric": fabrics[number // each]} for number, port in enumerate(known)]


def moved(known, chosen):
    """Ports of another host under the names that an instance has."""
    return [{**port, "wwpns": old["wwpns"]} for old, port in zip(known, chosen)]


def names(ports):
    """The names that Cinder lets in: those that are used."""
    return [port["wwpns"][0] for port in ports]


def next_names(ports):
    """The names that it lets in on a host that expects the instance."""
    return [port["wwpns"][1] for port in ports]


def fabrics(section):
    """The ports of the VIOSes on each fabric."""
    return [[wwpn.strip().upper() for wwpn in fabric.split(",") if wwpn.strip()] for fabric in section.fabric_port_wwpns]
