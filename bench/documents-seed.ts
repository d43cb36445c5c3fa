/** The client of all documents. */
export const client = '01990000-0001-7000-8000-000000000001'
export const consultant = '01990000-0000-7000-8000-000000000001'
const documents = 10_000
const pagesOfEach = 3
const announced = `with event as (insert into audit (actor, action, outcome) values ('service', 'seeded', 'allowed'))`

/** The statements that create a consultant with 400 clients. A superuser runs them. */
export const clientSeeds = [
  `${announced} insert into person (id, name, role, created_at) values ('${consultant}', 'Consultant', 'consultant', now())`,
  `${announced} insert into client (id, name, reference, consultant_id)
   select ('01990000-0001-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'Client ' || n, 'C-' || n, '${consultant}'
   from generate_series(1, 400) n`,
]

/** The same with ten thousand documents of three pages on one of the clients, which changed last. */
export const documentSeeds = [
  ...clientSeeds,
  // The other clients have ten each, of one page.
  `insert into document_content (client_id, digest, bytes, type, upload_id, used, reading)
   select id, sha256(n::text::bytea), 40000 + n, 'application/pdf', gen_random_uuid(), true, 'read'
   from client, generate_series(1, 10) n where id <> '${client}'`,
  `insert into document_text (client_id, digest, page, label, text)
   select client_id, digest, 1, '', 'We write to you about the annual accounts.' from document_content`,
  `insert into document_content (client_id, digest, bytes, type, upload_id, used, reading)
   select '${client}', sha256(n::text::bytea), 40000 + n, 'application/pdf', gen_random_uuid(), true, 'read' from generate_series(1, ${documents}) n`,
  // 300 words on each page, of 5000: some are on each page, and some on one.
  `insert into document_text (client_id, digest, page, label, text)
   select '${client}', sha256(n::text::bytea), page, '',
     'We write to you about the agreement of ' || (1900 + n % 100) || '. '
       || (select string_agg('w' || substr(md5((power(hashint8(n * 1000 + page * 300 + word)::float8 / 2147483648, 2) * 5000)::int::text), 1, 6), ' ')
           from generate_series(1, 300) word)
       || case when n % 1000 = 7 and page = 2 then ' quagga' else '' end
   from generate_series(1, ${documents}) n, generate_series(1, ${pagesOfEach}) page`,
  // For every item, one trigger would rewrite the client and the other would add up the client's items.
  'alter table document disable trigger touched, disable trigger bounded',
  `${announced} insert into document (id, client_id, created_by, updated_by, name, digest)
   select uuidv7(), client_id, '${consultant}', '${consultant}', 'Lease agreement ' || bytes - 40000 || '.pdf', digest
   from document_content order by client_id = '${client}', bytes`,
  'alter table document enable trigger touched, enable trigger bounded',
  'vacuum analyze',
]

const linesOfPage = 40

/** A PDF file with so many pages of text. `word` is on the last one. */
export function pdfOf(pages: number, word: string): Buffer {
  const parts: string[] = []
  const offsets: number[] = []
  let length = 0
  const write = (text: string) => {
    parts.push(text)
    length += text.length
  }
  const object = (body: string) => {
    offsets.push(length)
    write(`${offsets.length} 0 obj\n${body}\nendobj\n`)
  }
  write('%PDF-1.7\n')
  object('<</Type/Catalog/Pages 2 0 R>>')
  const kids = Array.from({ length: pages }, (_, page) => `${4 + 2 * page} 0 R`)
  object(`<</Type/Pages/Count ${pages}/Kids[${kids.join(' ')}]>>`)
  object('<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>')
  for (let page = 0; page < pages; page++) {
    object(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>/Contents ${5 + 2 * page} 0 R>>`,
    )
    const lines = Array.from(
      { length: linesOfPage },
      (_, line) =>
        `(Line ${line} of page ${page}: we agreed that the rent of the premises is due on the third day of each month.) Tj T*`,
    )
    const text = `BT /F 9 Tf 12 TL 40 800 Td ${lines.join('\n')} ${page === pages - 1 ? `(${word}) Tj` : ''} ET`
    object(`<</Length ${text.length}>>\nstream\n${text}\nendstream`)
  }
  const start = length
  write(`xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n`)
  for (const offset of offsets) write(`${String(offset).padStart(10, '0')} 00000 n \n`)
  write(`trailer\n<</Size ${offsets.length + 1}/Root 1 0 R>>\nstartxref\n${start}\n%%EOF\n`)
  return Buffer.from(parts.join(''), 'latin1')
}
