import { COMMON } from "../cli/arguments.ts"
import { type Command, WrongUse } from "../cli/command.ts"

/** A word or option that can follow, with its meaning. */
interface Choice {
  word: string
  means: string
}

/** Choices by the words typed so far, without options. The longest matching key applies. */
type Choices = Map<string, Choice[]>

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript }

/** Returns the completion command for all commands, including itself. */
export function completionOf(commands: () => readonly Command[]): Command {
  return {
    name: "completion",
    summary: "Print the completion script for bash, zsh or fish.",
    examples: [
      [
        "completion bash > ~/.local/share/bash-completion/completions/appmeter",
        "for bash, effective in the next shell",
      ],
      ["completion zsh > ~/.zfunc/_appmeter", "for zsh, if ~/.zfunc is in fpath"],
      ["completion fish > ~/.config/fish/completions/appmeter.fish", "for fish"],
    ],
    positionals: ["shell"],
    async run({ positionals: [shell = ""], terminal }) {
      if (!Object.hasOwn(SHELLS, shell))
        throw new WrongUse(`the shell must be one of ${Object.keys(SHELLS).join(", ")}`)
      terminal.out(SHELLS[shell as keyof typeof SHELLS](await choicesOf(commands())))
      return 0
    },
  }
}

async function choicesOf(commands: readonly Command[]): Promise<Choices> {
  const { catalog } = await import("../../catalog.ts")
  const choices: Choices = new Map([["", []]])
  const add = (typed: string, choice: Choice) => {
    const existing = choices.get(typed) ?? []
    choices.set(typed, existing.some(({ word }) => word === choice.word) ? existing : [...existing, choice])
  }
  for (const { name, summary, options } of commands) {
    const words = name.split(" ")
    words.forEach((word, at) => {
      const isWhole = at === words.length - 1
      const group = words.slice(0, at + 1).join(" ")
      add(words.slice(0, at).join(" "), { word, means: isWhole ? summary : `Commands of ${group}.` })
    })
    for (const [option, { meaning }] of Object.entries({ ...options, ...COMMON }))
      add(name, { word: `--${option}`, means: meaning })
  }
  for (const { id, summary, effect } of catalog)
    if (effect !== "writes" && effect !== "previews") add("call", { word: id, means: summary })
  return choices
}

/** Sorts the longest first: "key create" before "key". */
function longestFirst(choices: Choices): [string, Choice[]][] {
  return [...choices].sort(([one], [other]) => other.length - one.length || (one < other ? -1 : 1))
}

function bashScript(choices: Choices): string {
  const cases = longestFirst(choices).map(
    ([typed, each]) => `    ${pattern(typed)}) words="${each.map(({ word }) => word).join(" ")}" ;;`,
  )
  return `# bash completion of appmeter
_appmeter() {
  local typed="" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ \${COMP_WORDS[i]} == -* ]] || typed+="\${COMP_WORDS[i]} "
  done
  case "$typed" in
${cases.join("\n")}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _appmeter appmeter
`
}

function zshScript(choices: Choices): string {
  const cases = longestFirst(choices).map(([typed, each]) => {
    const lines = each.map(({ word, means }) => `      ${quoted(`${word.replaceAll(":", "\\:")}:${means}`)}`)
    return `    ${pattern(typed)}) choices=(\n${lines.join("\n")}\n    ) ;;`
  })
  return `#compdef appmeter
_appmeter() {
  local typed="" word
  local -a choices
  for word in "\${words[@]:1:$((CURRENT - 2))}"; do
    [[ $word == -* ]] || typed+="$word "
  done
  case "$typed" in
${cases.join("\n")}
  esac
  _describe appmeter choices || _files
}
if [ "$funcstack[1]" = "_appmeter" ]; then _appmeter "$@"; else compdef _appmeter appmeter; fi
`
}

function fishScript(choices: Choices): string {
  const typedWords = [...choices.keys()].filter((typed) => typed !== "").sort((a, b) => b.length - a.length)
  const lines = [...choices].flatMap(([typed, each]) =>
    each.map(({ word, means }) => {
      const what = word.startsWith("--") ? `-l ${word.slice(2)}` : `-a ${word}`
      const condition = `'__appmeter_at ${quoted(typed).replaceAll("'", '"')}'`
      return `complete -c appmeter -f -n ${condition} ${what} -d ${quoted(means)}`
    }),
  )
  return `# fish completion of appmeter
set -g __appmeter_commands ${typedWords.map(quoted).join(" ")}
function __appmeter_at
  set -l typed (string match -v -- '-*' (commandline -opc)[2..])
  set -l said "$typed"
  for command in $__appmeter_commands
    if test "$said" = "$command"; or string match -q -- "$command *" "$said"
      set said $command
      break
    end
  end
  test "$said" = "$argv[1]"
end
${lines.join("\n")}
`
}

/** Returns a shell pattern that matches the typed words, each followed by a space, and any further arguments. */
function pattern(typed: string): string {
  return typed === "" ? '""' : `"${typed} "*`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "’")}'`
}
