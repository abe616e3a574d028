import { foldReviewText } from "../../reviews/formulas/review-text.ts"
import type { TextProblem, TextRule } from "./check.ts"

/**
 * Fails on words that are addressed to a language model: requests to ignore instructions, or fake turns and records. A
 * review with such words is counted but never quoted. Such words cannot trigger an action, because the rules execute
 * nothing and the model has no tools.
 */
export const instructions: TextRule = (text): TextProblem[] => {
  const folded = foldReviewText(text)
  const found = ORDERS.flatMap((pattern) => folded.match(pattern)?.[0] ?? [])
  return found.map((what) => ({ rule: "instructions", what }))
}

const ORDERS = [
  new RegExp(
    [
      String.raw`\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|prompt|rule|direction|`,
      String.raw`guideline|above|previous|earlier|order)s?\b`,
    ].join(""),
    "u",
  ),
  /\b(?:system|developer|assistant|user)\s?(?:prompt|message|turn)\b|(?:^|[\n\s])(?:system|assistant|human)\s?:/u,
  /<\|?\s?(?:im_start|im_end|system|assistant|user|start_of_turn|endoftext)|\[\/?(?:inst|sys)\]|<<sys>>/u,
  /"\s?\}\s?,?\s?\{\s?"|\{\s?"(?:r|role|reply|themes?|quotes?|records?)"\s?:/u,
  new RegExp(
    [
      String.raw`\byou are (?:now|an? (?:ai|assistant|language model|helpful))\b|\bas an ai\b|\blanguage model\b|`,
      String.raw`\bchatgpt\b.{0,40}\b(?:say|write|answer|summari[sz]e)\b`,
    ].join(""),
    "u",
  ),
  new RegExp(
    [
      String.raw`\b(?:when|while|before|after) (?:you )?(?:summari[sz]|translat|repl|answer)\w*.{0,60}\b(?:include|`,
      String.raw`add|say|write|mention|recommend|must|always)\b`,
    ].join(""),
    "u",
  ),
  new RegExp(
    [
      String.raw`\b(?:include|insert|append|add|output|print|repeat|respond with|reply with|answer with|write) `,
      String.raw`(?:the )?(?:following|this|exactly|only|a link|verbatim|your (?:prompt|instructions))\b`,
    ].join(""),
    "u",
  ),
  new RegExp(
    [
      String.raw`\b(?:translate|rewrite|encode|summari[sz]e) (?:your|the|this|all|every) (?:response|answer|reply|`,
      String.raw`reviews?|text|output|summary)\b`,
    ].join(""),
    "u",
  ),
  /ignorier\w* .{0,30}(?:anweisung|vorgabe|regel)|vergiss .{0,30}(?:anweisung|vorgabe|regel)/u,
  /(?:önceki|yukaridaki|tüm) .{0,20}(?:talimat|komut|kural)\p{L}* .{0,20}(?:yok say|görmezden|unut|dikkate alma)/u,
  new RegExp(
    [
      "(?:ignora|olvida|ignorez|oubliez|ignore|esqueça|desconsidere) .{0,30}(?:instruccion|instruction|",
      "instruç|regla|règle|regra|anterior|précédent)",
    ].join(""),
    "u",
  ),
  /(?:игнорируй|забудь|не обращай внимания)\p{L}* .{0,30}(?:инструкци|указани|правил)/u,
  /(?:指示|命令|ルール|プロンプト).{0,12}(?:無視|忘れ)|(?:忽略|无视|忘记|忘掉).{0,16}(?:指令|指示|提示|规则|要求)/u,
  /(?:지시|명령|규칙|프롬프트).{0,12}(?:무시|잊)/u,
]
