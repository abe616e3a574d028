import { describe, expect, test } from "bun:test"
import { ReadFailure } from "../../../src/measuring/source.ts"
import { parsePlist } from "../../../src/stores/apple/plist.ts"

const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple Computer//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">`
const inside = (value: string) => `${HEAD}<plist version="1.0">${value}</plist>`
const read = (xml: string) => parsePlist(xml, "the answer")

describe("a property list", () => {
  test.each([
    ["<string>a &lt;b&gt; &amp;amp; &quot;&apos; &#233;&#x1F30A;</string>", `a <b> &amp; "' é🌊`],
    ["<string> kept\n as it stands </string>", " kept\n as it stands "],
    ["<string/>", ""],
    ["<integer>-12</integer>", -12],
    ["<real>1.5e3</real>", 1500],
    ["<true/>", true],
    ["<false></false>", false],
    ["<date>2026-03-20T00:00:00Z</date>", "2026-03-20T00:00:00Z"],
    ["<array/>", []],
    ["<array> <string>a</string> <array><integer>1</integer></array> </array>", ["a", [1]]],
  ] as [string, unknown][])("a property list is parsed: %s", (xml, value) => {
    expect(read(inside(xml))).toEqual(value)
  })

  test("a parsed dict has no inherited properties", () => {
    const dict = read(inside("<dict><key>__proto__</key><string>a</string><key>b&amp;c</key><dict/></dict>")) as object
    expect(Object.keys(dict)).toEqual(["__proto__", "b&c"])
    expect("toString" in dict).toBe(false)
  })

  test("a property list needs no declaration, version or white space", () => {
    expect(read("<plist><true/></plist>")).toBe(true)
    expect(read(`\n\n${inside("\n<true/>\n")}\n`)).toBe(true)
  })
})

describe("text that is not a property list", () => {
  test.each([
    ["text around a value", inside("a<true/>")],
    ["two values", inside("<true/><true/>")],
    ["no value", inside("")],
    ["text after the end", `${inside("<true/>")}a`],
    ["an unknown element", inside("<set/>")],
    ["an attribute", inside('<string id="a">b</string>')],
    ["a wrong end tag", inside("<string>a</integer>")],
    ["an element in a text", inside("<string>a<b/></string>")],
    ["text in a true", inside("<true>a</true>")],
    ["a key twice", inside("<dict><key>a</key><true/><key>a</key><true/></dict>")],
    ["a key without a value", inside("<dict><key>a</key></dict>")],
    ["a value without a key", inside("<dict><true/></dict>")],
    ["a tag that lost its beginning", inside("<string>a/string><string>b</string>")],
    ["a bare ampersand", inside("<string>a & b</string>")],
    ["an unknown entity", inside("<string>&nbsp;</string>")],
    ["an invalid character reference", inside("<string>&#xD800;</string>")],
    ["a NUL", inside("<string>&#0;</string>")],
    ["a character reference above U+10FFFF", inside("<string>&#x110000;</string>")],
    ["an integer with a fraction", inside("<integer>1.5</integer>")],
    ["an empty number", inside("<integer/>")],
    ["a comment", inside("<!-- a --><true/>")],
    ["a CDATA section", inside("<string><![CDATA[a]]></string>")],
    ["a document that declares entities", '<!DOCTYPE plist [<!ENTITY a "b">]><plist><string>&a;</string></plist>'],
    ["a document type with an external file", '<!DOCTYPE plist SYSTEM "file:///etc/hosts"><plist><true/></plist>'],
    ["a truncated property list", inside("<array><true/></array>").slice(0, -3)],
    ["JSON", '{"hints":[]}'],
    ["nothing", ""],
  ])("text is not a property list: %s", (_what, xml) => {
    expect(() => read(xml)).toThrow(ReadFailure)
  })

  test("endless nesting is refused in time linear in the text", () => {
    for (const deep of ["<array>", "<dict><key>a</key>"]) {
      expect(() => read(inside(deep.repeat(500_000)))).toThrow(ReadFailure)
    }
    for (const wide of [" ".repeat(2_000_000), "<array>".padEnd(2_000_000), `<string>${"&amp;".repeat(400_000)}`]) {
      expect(() => read(inside(wide))).toThrow(ReadFailure)
    }
  })
})
