import { Badge, Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { read } from '../../api.ts'
import { confirm } from '../../components/confirm.tsx'
import { notifyFailure } from '../../components/notify.ts'
import { Day } from '../../components/time.tsx'
import { nouns } from '../../fields.ts'
import { useRecord } from '../record/use-record.ts'
import cards from './card.module.css'
import classes from './check.module.css'
import { pagesText } from './pages.ts'
import type { Check, Draft } from './wire.ts'

const kindNames = { figure: 'Figure', date: 'Date', name: 'Name' } as const

interface CheckPanelProps {
  readonly draft: Draft
  /** The saved version of the letter. */
  readonly version: number
}

/** How a letter rests on the sources of its latest draft. It is compared when asked for, as it was last saved. */
export function CheckPanel({ draft, version }: CheckPanelProps) {
  const { id } = useRecord()
  const [check, setCheck] = useState<Check>()
  const [busy, setBusy] = useState(false)

  async function compare() {
    setBusy(true)
    try {
      setCheck(await readCheck(id, draft))
    } catch (error) {
      notifyFailure('The letter was not compared', error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <div className={classes.check}>
      <p className={classes.hint}>
        Compares the words of the letter with those of its sources, without a model. It finds what differs, not what is
        wrong.
      </p>
      <Button variant="default" loading={busy} onClick={() => void compare()}>
        {check ? 'Compare again' : 'Compare with the sources'}
      </Button>
      <output className={classes.result}>
        {check && <Result check={check} isCurrent={check.letter.version === version} />}
      </output>
    </div>
  )
}

const readCheck = (client: string, draft: Draft) => read<Check>(`/clients/${client}/drafts/${draft.id}/check`)

function Result({ check, isCurrent }: { readonly check: Check; readonly isCurrent: boolean }) {
  const found = check.sentences.filter(({ missing }) => missing.length > 0)
  const unused = check.sources.filter(({ used, state }) => !used && state !== 'gone')
  const stale = check.sources.filter(({ state }) => state !== 'unchanged')
  return (
    <>
      {!isCurrent && <p className={classes.hint}>The letter has been saved since. Compare again.</p>}
      <h3>In no source</h3>
      {found.length === 0 && <p>All figures, dates and names stand in the sources.</p>}
      <ul className={cards.list}>
        {found.map(({ text, missing }, index) => (
          <li key={index} className={cards.card}>
            <p>
              {missing.map((detail) => (
                <Badge key={detail.kind + detail.text} color="orange" mr={4}>
                  {`${kindNames[detail.kind]}: ${detail.text}`}
                </Badge>
              ))}
            </p>
            <p>{text}</p>
          </li>
        ))}
      </ul>
      {stale.length > 0 && (
        <>
          <h3>Changed since the draft</h3>
          <SourceList sources={stale} />
        </>
      )}
      {unused.length > 0 && (
        <>
          <h3>Not used</h3>
          <SourceList sources={unused} />
        </>
      )}
      <h3>Sentence by sentence</h3>
      <ol className={classes.sentences}>
        {check.sentences.map(({ text, source }, index) => {
          const rests = source === null ? undefined : check.sources[source]
          return (
            <li key={index}>
              {text} {rests ? <SourceLink source={rests} /> : <span className={classes.hint}>no source</span>}
            </li>
          )
        })}
      </ol>
    </>
  )
}

type CheckedSource = Check['sources'][number]

function SourceList({ sources }: { readonly sources: readonly CheckedSource[] }) {
  return (
    <ul>
      {sources.map((source) => (
        <li key={source.id}>
          <SourceLink source={source} />
          {source.state === 'gone' && ' (erased)'}
        </li>
      ))}
    </ul>
  )
}

/** A source of a draft, which opens its item. */
export function SourceLink({ source: { kind, id, title, pages } }: { readonly source: Draft['sources'][number] }) {
  const record = useRecord()
  const names = { note: <Day date={title} />, dispute: `Invoice ${title}`, document: title }
  return (
    <>
      <Link to={`/clients/${record.id}/${nouns[kind].path}/${id}`}>{names[kind]}</Link>
      {pages && ` (pages ${pagesText(pages)})`}
    </>
  )
}

/** Asks before a letter is approved with figures, dates or names that stand in no source of its draft. Resolves to whether to go on. */
export async function confirmUnproven(client: string, draft: Draft): Promise<boolean> {
  const check = await readCheck(client, draft).catch(() => undefined)
  if (check === undefined) {
    return confirm({
      title: 'Approve without a comparison?',
      text: 'The letter could not be compared with its sources.',
      action: 'Approve',
    })
  }
  const missing = check.sentences.flatMap((sentence) => sentence.missing)
  if (missing.length === 0) return true
  return confirm({
    title: 'Approve this letter?',
    text: 'This stands in none of its sources:',
    notes: [...new Set(missing.map(({ kind, text }) => `${kindNames[kind]}: ${text}`))],
    action: 'Approve',
  })
}
