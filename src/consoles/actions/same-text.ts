/** Whether a platform shows the text that was sent: it may change line ends, outer spaces and how letters are composed. */
export function sameText(shown: string | null, sent: string | null): boolean {
  return plain(shown) === plain(sent)
}

function plain(text: string | null): string {
  return (text ?? "").replaceAll(/\r\n?/g, "\n").trim().normalize("NFC")
}
