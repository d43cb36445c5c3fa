import { Badge, VisuallyHidden } from '@mantine/core'
import { IconFileInvoice } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link, useLoaderData, useSearchParams } from 'react-router'
import type { RecordNoun, SearchResult, SearchResults } from '../../../src/clients/schema.ts'
import type { ListedInvoice } from '../../../src/invoicing/schema.ts'
import { Empty } from '../../components/empty.tsx'
import { addressOf, recordIcons } from '../../components/found.ts'
import { useFoundInvoices } from '../../components/found-invoices.ts'
import { Page } from '../../components/page.tsx'
import { useRole } from '../../components/role.ts'
import { useRowsAgain } from '../../components/rows.ts'
import { SearchField } from '../../components/search-field.tsx'
import { Ago, Day } from '../../components/time.tsx'
import { nouns } from '../../fields.ts'
import { counted, invoiceKindNames, spoken } from '../../words.ts'
import { InvoiceState } from '../invoices/state.tsx'
import classes from './search.module.css'

const kinds: readonly RecordNoun[] = ['client', 'note', 'dispute', 'letter', 'document', 'task', 'contact']

/** Searches every record that the person may see, and for partners the numbers of invoices. */
export function SearchPage() {
  const { results, similar } = useLoaderData<SearchResults>()
  const [parameters, setParameters] = useSearchParams()
  const q = parameters.get('q') ?? ''
  const invoices = useFoundInvoices(q, 20)
  const isPartner = useRole() === 'partner'
  const isGuess = similar && invoices.length === 0
  const count = similar ? invoices.length : results.length + invoices.length
  useRowsAgain()
  return (
    <Page title="Search">
      <SearchField
        label="Search all records"
        placeholder={isPartner ? 'Search records and invoice numbers' : 'Search clients and their records'}
        value={q}
        onSearch={(text) => setParameters({ q: text }, { replace: true })}
        onDown={() => document.querySelector<HTMLElement>('[data-row]')?.focus()}
        isFirst
      />
      <VisuallyHidden aria-live="polite">
        {q !== '' &&
          (isGuess ? `Nothing found. ${counted(results.length, 'similar client')}` : counted(count, 'result'))}
      </VisuallyHidden>
      <div className={classes.results}>
        {q === '' && (
          <Empty title="Search everything you can access">
            <p>
              Type one or more words. The beginning of a word is enough, and any part of a client’s name or reference.
            </p>
          </Empty>
        )}
        {q !== '' && results.length === 0 && invoices.length === 0 && (
          <Empty title="Nothing found">
            <p>{`No record contains “${q}”. A record must contain every word; the beginning of a word is enough.`}</p>
          </Empty>
        )}
        {isGuess && <p className={classes.similar}>{`Nothing contains “${q}”. Clients with a similar name:`}</p>}
        <Invoices invoices={invoices} />
        {(!similar || isGuess ? kinds : []).map((noun) => (
          <Group key={noun} noun={noun} results={results.filter((result) => result.noun === noun)} />
        ))}
      </div>
    </Page>
  )
}

function Invoices({ invoices }: { readonly invoices: readonly ListedInvoice[] }) {
  if (invoices.length === 0) return null
  return (
    <section>
      <h2 className={classes.heading}>Invoices</h2>
      <ul>
        {invoices.map(({ id, kind, number, payer, status, updated_at: changed }) => (
          <li key={id} className={classes.result}>
            <IconFileInvoice size={17} stroke={1.6} aria-hidden />
            <div className={classes.found}>
              <p className={classes.title}>
                <Link to={`/invoices/${id}`} data-row className={classes.link}>
                  {number}
                </Link>
                <span>{`${invoiceKindNames[kind]} to ${payer.name}`}</span>
                <InvoiceState status={status} />
              </p>
            </div>
            <span className={classes.time}>
              <Ago time={changed} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Group({ noun, results }: { readonly noun: RecordNoun; readonly results: readonly SearchResult[] }) {
  if (results.length === 0) return null
  const GroupIcon = recordIcons[noun]
  return (
    <section>
      <h2 className={classes.heading}>{spoken(nouns[noun].many)}</h2>
      <ul>
        {results.map((result) => (
          <li key={result.id} className={classes.result}>
            <GroupIcon size={17} stroke={1.6} aria-hidden />
            <div className={classes.found}>
              <p className={classes.title}>
                <Link to={addressOf(result)} data-row className={classes.link}>
                  {noun === 'note' ? <Day date={result.title} /> : result.title}
                </Link>
                {noun !== 'client' && <span>{result.client.name}</span>}
                {result.archived && <Badge color="gray">Archived</Badge>}
              </p>
              {result.snippet !== '' && noun !== 'client' && (
                <p className={classes.snippet}>{marked(result.snippet)}</p>
              )}
            </div>
            <span className={classes.time}>
              <Ago time={result.changed_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The text between U+E000 and U+E001 is a match. */
function marked(snippet: string): ReactNode[] {
  return snippet.split('\ue000').map((part, index) => {
    const [hit = '', rest] = part.split('\ue001')
    // The parts never move.
    // oxlint-disable-next-line react/no-array-index-key
    return rest === undefined ? hit : [<mark key={index}>{hit}</mark>, rest]
  })
}
