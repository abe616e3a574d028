import { describe, expect, test } from "bun:test"
import { ReadFailure } from "../../src/sources/source.ts"
import { parseXml } from "../../src/sources/xml.ts"

const outcome = (xml: string) => {
  try {
    return parseXml(xml, "the text")
  } catch (error) {
    expect(error).toBeInstanceOf(ReadFailure)
    return (error as ReadFailure).outcome
  }
}

describe("XML", () => {
  test("is elements with attributes, children and text of their own", () => {
    const xml = `<?xml version="1.0"?>\n<a:b x="1 &amp; 2" y='"'>one<c/>two\r\n<c z="">&lt;3 &#252; &#x1F30A;</c></a:b>\n`
    expect(parseXml(xml, "the text")).toEqual({
      name: "a:b",
      attributes: { x: "1 & 2", y: '"' },
      text: "onetwo\n",
      children: [
        { name: "c", attributes: {}, text: "", children: [] },
        { name: "c", attributes: { z: "" }, text: "<3 ü 🌊", children: [] },
      ],
    })
    expect(parseXml("<p>a > b</p>", "the text").text).toBe("a > b")
  })

  test.each([
    ["nothing", ""],
    ["text alone", "text"],
    ["a page", "<!DOCTYPE html><html></html>"],
    ["a document type with entities", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
    ["an entity that is none", "<a>&nbsp;</a>"],
    ["an ampersand", "<a>fish & chips</a>"],
    ["a character that XML forbids", "<a>&#0;</a>"],
    ["half of a surrogate pair", "<a>&#xD83C;</a>"],
    ["a number beyond all characters", "<a>&#1114112;</a>"],
    ["NUL", "<a>\0</a>"],
    ["a comment", "<a><!-- b --></a>"],
    ["a CDATA section", "<a><![CDATA[b]]></a>"],
    ["an instruction", "<a><?b c?></a>"],
    ["two roots", "<a/><a/>"],
    ["something after the root", "<a/>b"],
    ["another end", "<a><b></a></b>"],
    ["no end", "<a><b></b>"],
    ["an attribute twice", '<a b="1" b="2"/>'],
    ["an attribute without quotes", "<a b=1/>"],
    ["a tag within an attribute", '<a b="<c/>"/>'],
    ["elements without an end of it", `${"<a>".repeat(40)}${"</a>".repeat(40)}`],
  ])("%s → changed", (_what, xml) => {
    expect(outcome(xml)).toBe("changed")
  })

  test("takes time linear to its length, whatever it holds", () => {
    const parts = ["<a ", " ", "<", "&", "&#", "<a>", 'b="', "=", "\n", "<a b='c' ", "]]", "</a"]
    for (const part of parts) {
      const began = performance.now()
      outcome(`<a>${part.repeat(200_000)}`)
      outcome(`<a ${part.repeat(200_000)}`)
      // 0.05 s; the square of it would be minutes
      expect(performance.now() - began).toBeLessThan(5_000)
    }
  })
})
