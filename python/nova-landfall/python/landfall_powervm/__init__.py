"""A Nova compute driver for PowerVM, managed by NovaLink.

The work is done in Rust (`_core`); what is here translates between Nova and that:

driver      the ComputeDriver
options     the [powervm] section of nova.conf
native      calls of the Rust half, without holding up Nova's other threads
errors      what went wrong, as Nova's exceptions
host        what the server has, as Nova counts it
flavor      flavors, as shapes of partitions
networks    VIFs, as network adapters
volumes     Cinder's connections, as volumes
fibre       virtual Fibre Channel ports, by which instances see volumes themselves
images      Glance's images, as files and disks
drive       config drives
migration   what two computes tell each other when an instance moves
shim        makes Nova find the driver where it is not installed beside it
"""
