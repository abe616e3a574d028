import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { canonicalAddress, clientAddress, networkOf, parseAddressList } from "../../src/access/addresses.ts"
import { AccessProblem } from "../../src/access/problem.ts"
import { cases, slow } from "../long.ts"

const emptyList = parseAddressList([])
const proxies = parseAddressList(["10.0.0.0/8", "2001:db8:1::/48"])

describe("the client's address", () => {
  test.each([
    // columns: peer, X-Forwarded-For, trusted proxies, client
    ["203.0.113.9", "10.0.0.1", emptyList, "203.0.113.9"],
    ["10.0.0.1", "198.51.100.7", emptyList, "10.0.0.1"],
    ["203.0.113.9", "10.0.0.1", proxies, "203.0.113.9"],
    ["10.0.0.1", "198.51.100.7", proxies, "198.51.100.7"],
    ["10.0.0.1", null, proxies, "10.0.0.1"],
    ["10.0.0.1", "  ", proxies, "10.0.0.1"],
    // Hops to the left of the first untrusted hop are unverified.
    ["10.0.0.1", "1.1.1.1, 198.51.100.7", proxies, "198.51.100.7"],
    ["10.0.0.1", "1.1.1.1, 198.51.100.7, 10.9.9.9", proxies, "198.51.100.7"],
    ["10.0.0.1", "10.1.1.1, 198.51.100.7, 10.9.9.9", proxies, "198.51.100.7"],
    ["10.0.0.1", "10.3.3.3, 10.2.2.2", proxies, "10.3.3.3"],
    ["::ffff:10.0.0.1", "::ffff:198.51.100.7", proxies, "198.51.100.7"],
    ["::FFFF:0a00:0001", "198.51.100.7:4711", proxies, "198.51.100.7"],
    ["2001:db8:1::5", "[2001:DB8:0:0::7]:443", proxies, "2001:db8::7"],
    ["fe80::1%eth0", null, proxies, "fe80::1"],
    [null, "198.51.100.7", proxies, null],
  ])("the client address is derived from peer %p and X-Forwarded-For %p", (peer, header, trusted, client) => {
    expect(clientAddress(peer, header, trusted)).toBe(client)
  })

  test.each([
    "unknown",
    "198.51.100.7, ",
    "198.51.100.7,,10.0.0.2",
    "_hidden",
    "999.1.1.1",
    "1.1.1.1\u0000",
    "x".repeat(10_240),
  ])("an invalid header from a trusted proxy gives no address: %#", (header) => {
    expect(clientAddress("10.0.0.1", header, proxies)).toBeNull()
  })

  test("an invalid header from an untrusted peer is ignored", () => {
    expect(clientAddress("203.0.113.9", "x".repeat(10_240), proxies)).toBe("203.0.113.9")
  })

  test("a header with 10 kB of hops gives no address, even if its right-most hop is valid", () => {
    expect(clientAddress("10.0.0.1", `${"10.0.0.1, ".repeat(1_024)}198.51.100.7`, proxies)).toBeNull()
  })

  slow("clientAddress returns an address or null for any text, and never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 80 }), (text) => {
        for (const answer of [clientAddress("10.0.0.1", text, proxies), clientAddress(text, text, proxies)]) {
          if (answer !== null && canonicalAddress(answer) !== answer) throw new Error(`answered ${answer}`)
        }
        networkOf(text)
        proxies.includes(text)
      }),
      { seed: 7, numRuns: cases(200, 3_000) },
    )
  })
})

describe("an address list", () => {
  test.each([
    ["192.0.2.1", "192.0.2.1", true],
    ["192.0.2.1", "192.0.2.2", false],
    ["192.0.2.0/24", "192.0.2.255", true],
    ["192.0.2.0/24", "192.0.3.0", false],
    ["192.0.2.77/24", "192.0.2.1", true],
    ["0.0.0.0/0", "203.0.113.9", true],
    ["10.0.0.0/8", "::ffff:10.1.2.3", true],
    ["::ffff:10.0.0.0/104", "10.1.2.3", true],
    ["::ffff:10.0.0.1", "10.0.0.1", true],
    ["2001:db8::/64", "2001:db8::ffff", true],
    ["2001:db8::/64", "2001:db8:0:1::1", false],
    ["2001:DB8::1", "2001:db8:0:0::1", true],
    ["192.0.2.1", "", false],
    ["192.0.2.1", null, false],
    ["192.0.2.1", "192.0.2.1, 1.1.1.1", false],
  ])("the list %p contains %p: %p", (entry, address, admitted) => {
    expect(parseAddressList([entry]).includes(address)).toBe(admitted)
  })

  test.each([
    "",
    "10.0.0",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "10.0.0.0/0x8",
    "010.0.0.1",
    "2001:db8::/129",
    "::ffff:10.0.0.0/95",
    "fe80::1%eth0",
    "example.com",
    "*",
    "10.0.0.0/8,10.1.1.1",
  ])("an address list refuses the entry %p", (entry) => {
    expect(() => parseAddressList([entry])).toThrow(AccessProblem)
  })
})

test("the network of an IPv4 address is that address; the network of an IPv6 address is its /64", () => {
  expect(networkOf("192.0.2.1")).toBe("192.0.2.1")
  expect(networkOf("::ffff:192.0.2.1")).toBe("192.0.2.1")
  expect(networkOf("2001:db8::1")).toBe(networkOf("2001:db8:0:0:ffff:ffff:ffff:ffff"))
  expect(networkOf("2001:db8::1")).not.toBe(networkOf("2001:db8:0:1::1"))
  expect(networkOf("1:2:3:4:5:6:7:8")).toBe("1:2:3:4::/64")
  expect(networkOf("1::4:5:6:7:8")).toBe("1:0:0:4::/64")
  expect(networkOf("::1")).toBe("0:0:0:0::/64")
  expect(networkOf(null)).toBe(networkOf("nonsense"))
})
