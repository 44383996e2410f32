"""Virtual Fibre Channel ports of instances (NPIV), by which they see volumes themselves.

They are chosen before Cinder is told about them, which is before the instance is made, and noted with the instance: the storage server
knows an instance by the names of its ports, wherever it is.
"""

KEY = "landfall_powervm_port_"


def noted(instance):
    """The ports that were chosen for an instance."""
    keys = sorted(key for key in instance.system_metadata if key.startswith(KEY))
    words = [instance.system_metadata[key].split(" ") for key in keys]
    return [{"vios": vios, "port": port, "wwpns": [first, second]} for vios, port, first, second in words]


def note(instance, ports):
    for number, port in enumerate(ports):
        instance.system_metadata[f"{KEY}{number:02}"] = " ".join([port["vios"], port["port"], *port["wwpns"]])
    instance.save()


def moved(known, chosen):
    """Ports of another host under the names that an instance has."""
    return [{**port, "wwpns": old["wwpns"]} for old, port in zip(known, chosen)]


def names(ports):
    """The names that Cinder lets in: that which is used, and that which is used after a migration."""
    return [name for port in ports for name in port["wwpns"]]


def fabrics(section):
    """The ports of the VIOSes on each fabric."""
    return [[wwpn.strip().upper() for wwpn in fabric.split(",") if wwpn.strip()] for fabric in section.fabric_port_wwpns]
