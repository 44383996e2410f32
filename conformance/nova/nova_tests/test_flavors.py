"""Flavors with extra specs, as shapes of partitions."""

from nova import exception
from nova import objects
from nova import test

from landfall_powervm import flavor
from nova_tests.base import PowerVMTest

PROCESSORS = "PartitionProcessorConfiguration/"


def shape(find_pool=None, **specs):
    """The shape for a flavor with four processors and 4 GiB."""
    specs = {f"powervm:{name}": value for name, value in specs.items()}
    wanted = objects.Flavor(name="four", vcpus=4, memory_mb=4096, extra_specs=specs)
    return flavor.shape(wanted, 0.1, find_pool)


class ShapeTest(test.NoDBTestCase):
    def test_a_flavor_without_any(self):
        self.assertEqual(
            {
                "memory": {"minimum_mib": 4096, "desired_mib": 4096, "maximum_mib": 4096},
                "processors": {
                    "kind": "shared", "uncapped_weight": 64, "pool": 0,
                    "virtual_processors": {"minimum": 4, "desired": 4, "maximum": 4},
                    "units": {"minimum": 0.4, "desired": 0.4, "maximum": 0.4},
                },
                "compatibility_mode": None, "availability_priority": None, "remote_restart": None,
            },
            shape(),
        )

    def test_how_dedicated_processors_are_shared(self):
        for word, wanted in (
            ("share_idle_procs", "when-off"), ("keep_idle_procs", "keep"), ("share_idle_procs_active", "when-on"),
            ("share_idle_procs_always", "always"),
        ):
            processors = shape(dedicated_proc="true", dedicated_sharing_mode=word, min_vcpu="2", max_vcpu="6")["processors"]
            self.assertEqual({"minimum": 2, "desired": 4, "maximum": 6}, processors["processors"])
            self.assertEqual(("dedicated", wanted), (processors["kind"], processors["sharing"]))
        self.assertEqual("when-off", shape(dedicated_proc="yes")["processors"]["sharing"])

    def test_pools_of_processors(self):
        pools = {"gold": 3}
        self.assertEqual(3, shape(pools.get, shared_proc_pool_name="gold")["processors"]["pool"])
        # That one is on every server, and need not be looked for.
        self.assertEqual(0, shape(pools.get, shared_proc_pool_name="DefaultPool")["processors"]["pool"])

    def test_shares_of_processors_without_a_limit(self):
        self.assertEqual(200, shape(shared_weight="200")["processors"]["uncapped_weight"])
        self.assertIsNone(shape(shared_weight="200", uncapped="false")["processors"]["uncapped_weight"])

    def test_processor_modes(self):
        self.assertEqual("POWER9", shape(processor_compatibility="POWER9")["compatibility_mode"])
        self.assertEqual("POWER6_Plus", shape(processor_compatibility="POWER6+")["compatibility_mode"])

    def test_what_cannot_be(self):
        for name, value in (
            ("min_mem", "8192"), ("max_mem", "2048"), ("min_mem", "many"), ("min_vcpu", "5"), ("max_vcpu", "3"),
            ("proc_units", "half"), ("min_proc_units", "0.5"), ("max_proc_units", "0.3"), ("shared_weight", "256"), ("shared_weight", "-1"),
            ("availability_priority", "256"), ("uncapped", "perhaps"), ("dedicated_proc", "perhaps"), ("srr_capability", "perhaps"),
        ):
            wrong = self.assertRaises(exception.InvalidInput, shape, **{name: value})
            self.assertIn("powervm:", str(wrong))
        self.assertRaises(exception.InvalidInput, shape, dedicated_proc="true", dedicated_sharing_mode="sometimes")

    def test_what_nobody_knows_is_not_taken_for_anything(self):
        self.assertEqual(shape(), shape(no_such_thing="1"))


class FlavorTest(PowerVMTest):
    def flavor(self, **specs):
        specs = {f"powervm:{name}": value for name, value in specs.items()}
        return self._create_flavor(memory_mb=4096, vcpu=4, disk=10, ephemeral=0, swap=0, extra_spec=specs)

    def test_a_shape_with_bounds(self):
        made = self.create(name="bounded", flavor_id=self.flavor(
            min_mem="2048", max_mem="8192", min_vcpu="2", max_vcpu="8", proc_units="1", min_proc_units="0.5", max_proc_units="2",
            shared_weight="200", shared_proc_pool_name="DefaultPool", srr_capability="true",
        ))
        partition = self.partition(made)
        bounds = lambda path: tuple(float(partition.findtext(path.format(bound))) for bound in ("Minimum", "Desired", "Maximum"))  # noqa: E731
        shared = PROCESSORS + "SharedProcessorConfiguration/"
        self.assertEqual((2048, 4096, 8192), bounds("PartitionMemoryConfiguration/{}Memory"))
        self.assertEqual((2, 4, 8), bounds(shared + "{}VirtualProcessors"))
        self.assertEqual((0.5, 1, 2), bounds(shared + "{}ProcessingUnits"))
        self.assertEqual(("uncapped", "200"), (partition.findtext(PROCESSORS + "SharingMode"), partition.findtext(shared + "UncappedWeight")))
        self.assertEqual(("0", "true"), (partition.findtext(shared + "SharedProcessorPoolID"), partition.findtext("SimplifiedRemoteRestartCapable")))
        self.delete(made)
        self.assert_nothing_left()

    def test_what_cannot_be_made_is_an_error(self):
        for specs, words in (
            # No other host is tried, and who asked for it is told why.
            ({"min_mem": "8192"}, "the flavor's extra spec powervm:mem cannot be"),
            # Another host may have that.
            ({"shared_proc_pool_name": "gold"}, "Exhausted all hosts"),
        ):
            made = self.create(name="wrong", flavor_id=self.flavor(**specs), expected_state="ERROR")
            self.assertIn(words, made["fault"]["message"])
            self.assert_nothing_left()
            self.delete(made)
