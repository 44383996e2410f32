"""`kill -9` of `landfall create cluster` and `landfall destroy cluster`, counted by pypowervm on all servers. See kills.py."""

import collections
import io

import kills
import pytest
import tier
import yaml
from conftest import connect
from pypowervm import const
from pypowervm.tasks import cna as tsk_cna, power, scsi_mapper, storage as tsk_stor, vopt
from pypowervm.utils import lpar_builder
from pypowervm.wrappers import logical_partition as pvm_lpar
from pypowervm.wrappers import managed_system as pvm_ms
from pypowervm.wrappers import network as pvm_net
from pypowervm.wrappers import storage as pvm_stor
from pypowervm.wrappers import virtual_io_server as pvm_vios
from simulator import started

# Machines boot in a tenth of a second.
SPEED = "200"


class Servers(kills.World):
    platform = "powervm"
    reach = 18
    drawn = kills.World.drawn + ((r"_[0-9a-f]{8,32}$", "_DIGEST"),)

    def __init__(self, start, directory):
        self.example, credentials = directory / "example.yaml", directory / "credentials.yaml"
        self.simulator = start(
            "kills", "--http", "--time-scale", SPEED, "--media", "keep", "--install-config", self.example,
            "--credentials", credentials, guests="light",
        )  # fmt: skip
        self.adapters = [connect(self.simulator, number) for number in range(len(self.simulator.ready["hosts"]))]
        self.variables = {"POWERVM_CONFIG": str(credentials)}

    def config(self):
        config = yaml.safe_load(self.example.read_text())
        config["controlPlane"]["replicas"] = config["compute"][0]["replicas"] = 1
        return config

    def census(self):
        found = {}
        for adapter in self.adapters:
            names = {}
            for lpar in pvm_lpar.LPAR.get(adapter):
                names[lpar.id] = lpar.name
                found["partition", lpar.uuid] = f"partition {lpar.name} {lpar.state}", (lpar.id, lpar.mem_config.desired)
                for cna in pvm_net.CNA.get(adapter, parent=lpar):
                    found["adapter", cna.uuid] = f"adapter of {lpar.name}, VLAN {cna.pvid}", (cna.mac, cna.slot)
            for vios in pvm_vios.VIOS.get(adapter, xag=[const.XAG.VIO_SMAP]):
                for own in vios.scsi_mappings:
                    found.update(self._mapping(vios, own, names))
                for group in pvm_stor.VG.get(adapter, parent=vios):
                    for disk in group.virtual_disks:
                        found["disk", disk.udid] = f"disk {disk.name}", disk.capacity
                    for medium in (own for repository in group.vmedia_repos for own in repository.optical_media):
                        found["medium", vios.uuid, medium.name] = f"medium {medium.name}", medium.size
        for own in pvm_stor.Tier.get(self.adapters[0]):
            for unit in pvm_stor.LUEnt.get(self.adapters[0], parent=own):
                found["unit", unit.udid] = f"unit {unit.name}", (unit.capacity, unit.in_use, unit.lu_type)
        return found

    def _mapping(self, vios, own, names):
        storage, client = own.backing_storage, own.client_adapter
        owner = names.get(own.server_adapter.lpar_id, "nobody")
        key = "mapping", vios.uuid, own.server_adapter.lpar_slot_num, own.target_dev and own.target_dev.name
        label = f"mapping of {owner} to {type(storage).__name__}"
        return {key: (label, (storage and storage.name, client and client.lpar_slot_num))}

    def move_in(self, infra_id):
        adapter = self.adapters[0]
        system = pvm_ms.System.get(adapter)[0]
        attributes = {"name": f"{infra_id}-master-7", "memory": 2048, "vcpu": 1, "env": "AIX/Linux"}
        lpar = lpar_builder.LPARBuilder(system.adapter, attributes, lpar_builder.DefaultStandardize(system)).build()
        lpar = lpar.create(parent=system)
        tsk_cna.crt_cna(adapter, system.uuid, lpar.uuid, 100)
        own = tsk_stor.default_tier_for_ssp(pvm_stor.SSP.get(adapter)[0])
        _, unit = tsk_stor.crt_lu(own, f"boot_{infra_id}-master-7_0123abcd", 5)
        tsk_stor.crt_lu(own, f"{infra_id}-image-2", 1)
        repository, _ = vopt.validate_vopt_repo_exists(adapter)
        image = b"a neighbour's config drive"
        medium, _ = tsk_stor.upload_vopt(adapter, repository, io.BytesIO(image), f"{infra_id}-master-7.iso", len(image))
        for disk in (unit, medium):
            scsi_mapper.add_vscsi_mapping(system.uuid, repository, lpar.uuid, disk)
        power.PowerOp.start(pvm_lpar.LPAR.get(adapter, uuid=lpar.uuid))

    def expected(self, distribution):
        if distribution == "kubernetes":
            made = ["master-0", "worker-RANDOM"]
        else:
            made = ["bootstrap", "master-0", "master-1", "master-2"]
        labels = collections.Counter({"medium cfg_DIGEST": len(made)})
        for name in made:
            labels[f"partition ID-{name} running"] = labels[f"adapter of ID-{name}, VLAN 100"] = 1
            labels[f"unit boot_ID-{name}_DIGEST"] = 1
            # The disk is reached through both VIOSes of a server, the config drive through one.
            labels[f"mapping of ID-{name} to LU"] = 2
            labels[f"mapping of ID-{name} to VOptMedia"] = 1
        return labels


@pytest.fixture
def servers(tmp_path, tmp_path_factory):
    with started(tmp_path_factory.mktemp) as start:
        servers = Servers(start, tmp_path)
        yield servers
        for adapter in servers.adapters:
            adapter.session._logoff()


@pytest.mark.parametrize("seed", kills.seeds())
def test_kills(servers, tmp_path, seed):
    kills.Trial(servers, tmp_path, seed).survive()


@tier.full_only
def test_kills_at_every_record(servers, tmp_path):
    kills.Trial(servers, tmp_path, 0).survive_every_record()


@tier.full_only
@pytest.mark.parametrize("distribution", kills.OTHERS)
@pytest.mark.parametrize("seed", kills.seeds())
def test_kills_of_other_distributions(servers, tmp_path, distribution, seed):
    kills.Trial(servers, tmp_path, seed, distribution).survive()
