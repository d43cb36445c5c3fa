import type { OverviewData } from '../../src/overview/schema.ts'
import { Page } from '../components/page.tsx'
import { weekdayText } from '../locale.ts'
import { Changes } from '../pages/overview/changes.tsx'
import classes from '../pages/overview/overview.module.css'
import { Tasks } from '../pages/overview/tasks.tsx'
import { Tiles } from '../pages/overview/tiles.tsx'
import { Disputes, LettersToApprove, LettersToSend, Reviews } from '../pages/overview/waiting.tsx'
import { today } from '../zone.ts'
import { Lines } from './lines.tsx'

export function FirstOverview({ data }: { readonly data: OverviewData }) {
  const isNew = !data.has_clients && data.changes.clients.length === 0
  return (
    <Page title="Overview" aside={weekdayText(today())}>
      {isNew ? (
        <Lines />
      ) : (
        <>
          <Tiles data={data} />
          <div className={classes.columns}>
            <div>
              <Reviews toReview={data.letters_to_review} returned={data.letters_returned} />
              <Changes changes={data.changes} since={data.since} />
              <LettersToApprove letters={data.letters_to_approve} />
              <LettersToSend letters={data.letters_to_send} />
            </div>
            <div>
              <Tasks tasks={data.tasks} />
              <Disputes disputes={data.open_disputes} currency={data.currency} />
            </div>
          </div>
        </>
      )}
    </Page>
  )
}
