interface Contents {
  /** The name of the client. */
  readonly client: string
  readonly hasInvoices: boolean
  readonly hasAudit: boolean
  /** The letters that are not PDF files. */
  readonly others: readonly string[]
}

/** The page of an export that says what its files are. */
export function readmeOf({ client, hasInvoices, hasAudit, others }: Contents): string {
  const lines = [
    `The data of ${client}, exported at ${new Date().toISOString()}.`,
    '',
    'client.json    the client and its earlier versions',
    'notes.json     the notes of meetings, archived ones too, with their earlier versions',
    'disputes.json  the same for disputes',
    'letters.json   the same for letters',
    'time.json      the same for time entries',
    'expenses.json  the same for expenses',
    'drafts.json    what a model was asked to write: instructions, sources, tokens and cost',
    'costs.json     the cost of generation, by month and by letter',
    'letters/       the letters as they are now, or as they were sent',
    ...(hasInvoices
      ? [
          'invoices.json  invoices and credit notes, drafts too, with their lines, payments and mails',
          'invoices/      those that were issued, as they were mailed',
        ]
      : []),
    ...(hasAudit ? ['audit.csv      who did what with this client'] : []),
    '',
    hasAudit
      ? 'Times in JSON files are in UTC. Those in audit.csv are in the time zone of the firm, with its offset from UTC.'
      : 'Times are in UTC.',
    'Amounts are decimal numbers in the currency given next to them.',
  ]
  const why =
    'These letters are not PDF files, because the fonts lack some of their characters or the letters are too long:'
  return `${[...lines, ...(others.length > 0 ? ['', why, ...others] : [])].join('\r\n')}\r\n`
}
