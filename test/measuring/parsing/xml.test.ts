import { describe, expect, test } from "bun:test"
import { parseXml } from "../../../src/measuring/parsing/xml.ts"
import { ReadFailure } from "../../../src/measuring/source.ts"
import { slow } from "../../long.ts"

const outcome = (xml: string, lenient = false) => {
  try {
    return parseXml(xml, "the text", { lenient })
  } catch (error) {
    expect(error).toBeInstanceOf(ReadFailure)
    return (error as ReadFailure).outcome
  }
}

describe("XML", () => {
  test("an XML document is parsed into elements with their attributes, children and text", () => {
    const xml =
      `<?xml version="1.0"?>\n<a:b x="1 &amp; 2" y='"'>one<c/>two\r\n<c z="">&lt;3 &#252; ` + "&#x1F30A;</c></a:b>\n"
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
  ])("a document with %s fails as changed", (_what, xml) => {
    expect(outcome(xml)).toBe("changed")
  })

  test.each([
    ["an ampersand", "fish & chips &c; &#; &nbsp;", "fish & chips &c; &#; &nbsp;"],
    ["a reference to a forbidden character", "a&#0;b&#xD83C;c&#9999999;d", "a\ufffdb\ufffdc\ufffdd"],
    ["a valid reference", "&lt;3 &#38; &#x1F30A; ]]&#62;", "<3 & 🌊 ]]>"],
    ["a forbidden character", "a\u0008b\0c\ud83cd", "a\ufffdb\ufffdc\ufffdd"],
    ["the end of a CDATA section", "so ]]> what", "so ]]> what"],
    ["a CDATA section", "1 <![CDATA[<b> & &amp; <![CDATA[ \u0008]]> & 2", "1 <b> & &amp; <![CDATA[ \ufffd & 2"],
  ])("lenient parsing accepts a page that has a review with %s", (_what, text, expected) => {
    const { children } = parseXml(`<a><b>${text}</b><c/></a>`, "the text", { lenient: true })
    expect(children.map(({ name, text }) => [name, text])).toEqual([
      ["b", expected],
      ["c", ""],
    ])
  })

  slow("parsing takes time linear in the length of the text", () => {
    const parts = ["<a ", " ", "<", "&", "&#", "<a>", 'b="', "=", "\n", "<a b='c' ", "]]", "</a", "<![CDATA[", "]]>"]
    for (const part of parts) {
      const began = performance.now()
      for (const lenient of [false, true]) {
        outcome(`<a>${part.repeat(200_000)}`, lenient)
        outcome(`<a ${part.repeat(200_000)}`, lenient)
      }
      // 0.1 s; quadratic time would take minutes
      expect(performance.now() - began).toBeLessThan(5_000)
    }
  })
})
