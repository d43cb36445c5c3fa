import { useRef } from 'react'
import { useLoaderData, useLocation } from 'react-router'
import type { OverviewData } from '../../../src/overview/schema.ts'
import { useLive, type LiveState } from '../../components/live.ts'
import { Page } from '../../components/page.tsx'
import { useRowKeys, useRowsAgain } from '../../components/rows.ts'
import { weekdayText } from '../../locale.ts'
import { today } from '../../zone.ts'
import { Changes } from './changes.tsx'
import { Credit } from './credit.tsx'
import { Disputes, LettersToApprove, LettersToSend, Reviews } from './waiting.tsx'
import { Tasks } from './tasks.tsx'
import { Tiles } from './tiles.tsx'
import { Welcome } from './welcome.tsx'
import classes from './overview.module.css'

/** ms between two readings. */
const pause = 30_000

/** The home page: recent changes, pending work, and for partners the remaining credit. */
export function OverviewPage() {
  const { pathname, search } = useLocation()
  const { data, state } = useLive(pathname + search, useLoaderData<OverviewData>(), pause)
  const lists = useRef<HTMLDivElement>(null)
  useRowKeys(lists)
  useRowsAgain()
  const isNew = !data.has_clients && data.changes.clients.length === 0
  return (
    <Page title="Overview" aside={<Aside state={state} />}>
      {!isNew && <Tiles data={data} />}
      <div ref={lists} className={classes.columns}>
        {isNew ? (
          <Welcome />
        ) : (
          <div>
            <Reviews toReview={data.letters_to_review} returned={data.letters_returned} />
            <Changes changes={data.changes} since={data.since} />
            <LettersToApprove letters={data.letters_to_approve} />
            <LettersToSend letters={data.letters_to_send} />
          </div>
        )}
        <div>
          {!isNew && (
            <>
              <Tasks tasks={data.tasks} />
              <Disputes disputes={data.open_disputes} currency={data.currency} />
            </>
          )}
          {data.firm && <Credit accounts={data.firm.accounts} currency={data.currency} />}
        </div>
      </div>
    </Page>
  )
}

function Aside({ state }: { readonly state: LiveState }) {
  return typeof state === 'object' ? `May be out of date: ${state.failure}` : weekdayText(today())
}
