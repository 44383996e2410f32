"""Many instances at a time, by the API. LOAD says how many; conformance/nova/load runs a hundred."""

import concurrent.futures
import os

from nova_tests.base import PowerVMTest

COUNT = int(os.environ.get("LOAD", "12"))
AT_ONCE = int(os.environ.get("LOAD_AT_ONCE", "6"))


class LoadTest(PowerVMTest):
    def test_many(self):
        self.flags(instances=-1, cores=-1, ram=-1, group="quota")
        # What is made once: an image in the pool, connections, everything that Python loads late.
        first = self.create(name="first")
        memory = []
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for half in range(2):
                made = list(pool.map(lambda number: self.create(name=f"load-{half}-{number}"), range(COUNT // 2)))
                self.assertEqual(COUNT // 2 + 1, self.compute.driver.get_num_instances())
                list(pool.map(self.delete, made))
                memory.append(resident_mib())
        self.delete(first)
        self.assert_nothing_left()
        print(f"{COUNT} instances, {AT_ONCE} at once: {memory[0]:.0f} MiB after half of them, {memory[1]:.0f} MiB after all")
        self.assertLess(memory[1], memory[0] * 1.1 + 10)


def resident_mib():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
