"""Many instances at a time. LOAD says how many; conformance/nova/load runs a hundred."""

import concurrent.futures
import copy
import os

from nova import objects
from oslo_utils import uuidutils

from nova_tests.base import PowerVMTest

COUNT = int(os.environ.get("LOAD", "12"))
AT_ONCE = int(os.environ.get("LOAD_AT_ONCE", "6"))


class LoadTest(PowerVMTest):
    def test_many(self):
        context = self.nova_context()
        made = self.create(name="template", config_drive=False)
        template = self.instance(made, context)
        image_meta = objects.ImageMeta.from_dict(self.glance.show(None, self.image_id))
        driver = self.compute.driver
        memory = []
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for _ in range(2):
                instances = [self.another(template, number) for number in range(COUNT // 2)]
                make = lambda one: driver.spawn(  # noqa: E731
                    context, one, image_meta, [], None, {}, network_info=self.network(template, one.id),
                )
                list(pool.map(make, instances))
                self.assertEqual(COUNT // 2 + 1, driver.get_num_instances())
                list(pool.map(lambda one: driver.destroy(context, one, None), instances))
                memory.append(resident_mib())
        self.delete(made)
        self.assert_nothing_left()
        print(f"{COUNT} instances, {AT_ONCE} at once: {memory[0]:.0f} MiB after half of them, {memory[1]:.0f} MiB after all")
        self.assertLess(memory[1], memory[0] * 1.1 + 10)

    def network(self, template, number):
        """The network of an instance, with an address of its own."""
        network = copy.deepcopy(template.get_network_info())
        for vif in network:
            vif["address"] = f"fa:16:3e:01:{number // 256:02x}:{number % 256:02x}"
        return network

    def another(self, template, number):
        """An instance that only the driver knows."""
        instance = template.obj_clone()
        instance.uuid = uuidutils.generate_uuid()
        instance.id = 1000 + number
        return instance


def resident_mib():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
