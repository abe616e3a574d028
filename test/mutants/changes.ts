// The small changes that a mutant makes to one TypeScript or SQL file.
import ts from "typescript-5"

/** One replacement in the text of a file. */
export interface Change {
  kind: string
  from: number
  to: number
  text: string
}

const OPERATORS: Record<string, [kind: string, replacement: string]> = {
  "<": ["comparison", "<="],
  "<=": ["comparison", "<"],
  ">": ["comparison", ">="],
  ">=": ["comparison", ">"],
  "===": ["comparison", "!=="],
  "!==": ["comparison", "==="],
  "&&": ["and or", "||"],
  "||": ["and or", "&&"],
  "+": ["arithmetic", "-"],
  "-": ["arithmetic", "+"],
  "*": ["arithmetic", "/"],
  "/": ["arithmetic", "*"],
}

/**
 * Larger constants are limits in milliseconds or bytes. Increasing such a limit by one changes nothing that a caller
 * can observe.
 */
const MAX_NUMBER = 100

export function changesOfTypeScript(text: string): Change[] {
  const file = ts.createSourceFile("mutant.ts", text, ts.ScriptTarget.ESNext, true)
  const changes: Change[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return
    changes.push(...changesOfNode(node, text))
    ts.forEachChild(node, visit)
  }
  visit(file)
  return changes
}

function changesOfNode(node: ts.Node, text: string): Change[] {
  const replace = (kind: string, target: ts.Node, replacement: string): Change => ({
    kind,
    from: target.getStart(),
    to: target.end,
    text: replacement,
  })
  if (ts.isBinaryExpression(node)) return changesOfOperator(node, replace)
  if (ts.isIfStatement(node)) return [replace("condition", node.expression, "false")]
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [replace("negation", node, `(${node.operand.getText()})`)]
  if (ts.isNumericLiteral(node) && Number(node.text) <= MAX_NUMBER)
    return [replace("number", node, `(${node.text} + 1)`)]
  if (ts.isConditionalExpression(node))
    return [
      replace("branch", node.whenTrue, node.whenFalse.getText()),
      replace("branch", node.whenFalse, node.whenTrue.getText()),
    ]
  if (ts.isReturnStatement(node) && node.expression) return changesOfReturned(node.expression, replace)
  if (ts.isExpressionStatement(node) && isCall(node.expression)) return [replace("statement", node, ";")]
  if (isPartOfSql(node)) return changesOfSql(text.slice(node.getStart(), node.end), node.getStart())
  return []
}

type Replace = (kind: string, target: ts.Node, replacement: string) => Change

function changesOfOperator(node: ts.BinaryExpression, replace: Replace): Change[] {
  const operator = OPERATORS[node.operatorToken.getText()]
  if (!operator) return []
  const [kind, replacement] = operator
  const joinsText = [node.left, node.right].some(
    (side) =>
      ts.isStringLiteralLike(side) ||
      ts.isTemplateExpression(side) ||
      side.kind === ts.SyntaxKind.RegularExpressionLiteral,
  )
  if (kind === "arithmetic" && joinsText) return []
  const changes = [replace(kind, node.operatorToken, replacement)]
  if (kind === "and or") changes.push(replace("condition", node, node.left.getText()))
  return changes
}

function changesOfReturned(returned: ts.Expression, replace: Replace): Change[] {
  if (returned.kind === ts.SyntaxKind.TrueKeyword) return [replace("returned", returned, "false")]
  if (returned.kind === ts.SyntaxKind.FalseKeyword) return [replace("returned", returned, "true")]
  if (returned.kind === ts.SyntaxKind.NullKeyword) return [replace("returned", returned, "undefined as never")]
  if (ts.isArrayLiteralExpression(returned) && returned.elements.length > 0)
    return [replace("returned", returned, "[]")]
  return []
}

const isCall = (node: ts.Expression): boolean =>
  ts.isCallExpression(ts.isAwaitExpression(node) ? node.expression : node)

function isPartOfSql(node: ts.Node): boolean {
  if (!ts.isNoSubstitutionTemplateLiteral(node) && !ts.isTemplateLiteralToken(node)) return false
  for (let parent = node.parent; parent; parent = parent.parent)
    if (ts.isTaggedTemplateExpression(parent)) return /\b(sql|tx|db)$/.test(parent.tag.getText())
    else if (!ts.isTemplateExpression(parent) && !ts.isTemplateSpan(parent)) return false
  return false
}

const SQL: [kind: string, pattern: RegExp, replacement: string][] = [
  ["sql comparison", / <= /g, " < "],
  ["sql comparison", / < /g, " <= "],
  ["sql comparison", / >= /g, " > "],
  ["sql comparison", / > /g, " >= "],
  ["sql comparison", / <> /g, " = "],
  ["sql and or", / and (?!\$\{?|'?\d)/g, " or "],
  ["sql and or", / or /g, " and "],
  ["sql null", / is not null\b/g, " is null"],
  ["sql null", / is null\b/g, " is not null"],
  ["sql figure", /\bmin\(/g, "max("],
  ["sql figure", /\bmax\(/g, "min("],
  ["sql figure", /\bleast\(/g, "greatest("],
  ["sql figure", /\bgreatest\(/g, "least("],
  ["sql figure", / \+ /g, " - "],
  ["sql figure", / - /g, " + "],
  ["sql order", / desc\b/g, ""],
]

export function changesOfSql(text: string, offset = 0): Change[] {
  const changes: Change[] = []
  for (const [kind, pattern, replacement] of SQL)
    for (const match of text.matchAll(pattern)) {
      const line = text.slice(text.lastIndexOf("\n", match.index) + 1, match.index)
      if (line.includes("--")) continue
      changes.push({ kind, from: offset + match.index, to: offset + match.index + match[0].length, text: replacement })
    }
  return changes
}

export const applied = (text: string, { from, to, text: replacement }: Change): string =>
  text.slice(0, from) + replacement + text.slice(to)
