import { Button, VisuallyHidden } from '@mantine/core'
import { IconDownload, IconList } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { Link, useLoaderData, useLocation } from 'react-router'
import type { UsagePageData } from '../../../src/usage/schema.ts'
import { Empty } from '../../components/empty.tsx'
import { useLive, type LiveState } from '../../components/live.ts'
import { Page } from '../../components/page.tsx'
import { moneyText } from '../../money.ts'
import { counted } from '../../words.ts'
import { Breakdowns } from './breakdowns.tsx'
import { ChartSection } from './chart-section.tsx'
import { PeriodFilter, Selection, type Selected } from './filters.tsx'
import { Limits } from './limits.tsx'
import { Reasons } from './reasons.tsx'
import { Tiles } from './tiles.tsx'
import classes from './usage.module.css'

/** Usage of the firm's accounts, and how close they are to their limits; for partners. */
export function UsagePage() {
  const { pathname, search } = useLocation()
  const { data, state } = useLive(pathname + search, useLoaderData<UsagePageData>())
  const file = new URLSearchParams(search)
  file.set('format', 'csv')
  const isEmpty = data.total.requests === 0 && data.total.refused === 0
  return (
    <Page
      title="Usage"
      aside={<LiveText state={state} />}
      actions={
        <>
          <Button
            component={Link}
            to={`/usage/requests${search}`}
            variant="default"
            leftSection={<IconList size={15} aria-hidden />}
          >
            Requests
          </Button>
          <Button
            component="a"
            variant="default"
            leftSection={<IconDownload size={15} aria-hidden />}
            href={`/usage?${file.toString()}`}
            download="usage.csv"
          >
            Export CSV
          </Button>
        </>
      }
    >
      <search className={classes.filters}>
        <PeriodFilter from={data.from} to={data.to} />
        <Selection selected={selectedOf(data.filter)} />
        <span className={classes.hint}>Days are UTC days.</span>
      </search>
      <Tiles {...data} />
      <Announcement data={data} />
      {isEmpty ? (
        <Empty title="No requests in this period">
          <p>Figures appear here as soon as a request is charged or refused.</p>
        </Empty>
      ) : (
        <>
          <ChartSection data={data} />
          <Breakdowns data={data} />
          <Reasons refusals={data.refusals} />
        </>
      )}
      {data.limits.length > 0 && <Limits {...data} />}
    </Page>
  )
}

function selectedOf({ account, key, model, client }: UsagePageData['filter']): Selected[] {
  return [
    ...(account ? [{ name: 'account', label: 'Account', text: account.name ?? account.id }] : []),
    ...(key ? [{ name: 'key', label: 'Key', text: key.name ?? key.id }] : []),
    ...(model === undefined ? [] : [{ name: 'model', label: 'Model', text: model }]),
    ...(client ? [{ name: 'client', label: 'Client', text: client.name ?? client.id }] : []),
  ]
}

function LiveText({ state }: { readonly state: LiveState }) {
  if (state === 'live') return <span className={classes.live}>Live</span>
  return state === 'paused' ? 'Paused while you are away' : `Not live: ${state.failure}`
}

/** ms between two announcements to screen readers. */
const quiet = 20_000

/** Tells screen readers of new figures, now and then. */
function Announcement({ data: { total, currency } }: { readonly data: UsagePageData }) {
  const now = `${counted(total.requests, 'request')}, ${moneyText(total.cost, currency)}, ${counted(total.refused, 'refusal')}`
  const [{ text, at }, set] = useState(() => ({ text: now, at: Date.now() }))
  useEffect(() => {
    if (now === text) return undefined
    const timer = setTimeout(() => set({ text: now, at: Date.now() }), Math.max(0, at + quiet - Date.now()))
    return () => clearTimeout(timer)
  }, [now, text, at])
  return <VisuallyHidden aria-live="polite">{text}</VisuallyHidden>
}
