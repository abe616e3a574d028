/** Passes the rows of a statement on that is limited only for safety, and throws where they met the limit. */
export function uncut(most: number): <Rows extends readonly unknown[]>(rows: Rows) => Rows {
  return (rows) => {
    if (rows.length >= most) throw new Error(`a read met its limit of ${most} rows`)
    return rows
  }
}
