#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Reads IPv4 RoCEv2 packets as hex lines; prints the ICRC that scapy computes for each, as hex on the wire."""
import sys

try:
    from scapy.layers.inet import IP
    from scapy.contrib.roce import BTH
except ImportError:
    sys.exit(77)

for line in sys.stdin:
    packet = IP(bytes.fromhex(line))
    del packet[BTH].icrc
    print(bytes(packet)[-4:].hex())
