/**
 * Returns true if the platform shows the text that was sent. The platform may change line ends, outer spaces and
 * Unicode composition.
 */
export function sameText(shown: string | null, sent: string | null): boolean {
  return plain(shown) === plain(sent)
}

function plain(text: string | null): string {
  return (text ?? "").replaceAll(/\r\n?/g, "\n").trim().normalize("NFC")
}
