import { Switch } from '@mantine/core'
import { Link, useLoaderData, useSearchParams } from 'react-router'
import type { Activity, ActivityList } from '../../../src/clients/schema.ts'
import { Empty } from '../../components/empty.tsx'
import { Initials } from '../../components/initials.tsx'
import { More } from '../../components/more.tsx'
import { Ago } from '../../components/time.tsx'
import { clientVersionFields, nouns } from '../../fields.ts'
import { dateText } from '../../locale.ts'
import { spoken } from '../../words.ts'
import classes from './activity.module.css'
import { useRecord } from './use-record.ts'

/** Who did what with the record, newest first. */
export function ActivityTab() {
  const list = useLoaderData<ActivityList>()
  const [parameters, setParameters] = useSearchParams()
  const withReads = parameters.get('reads') === 'true'
  return (
    <div className={classes.tab}>
      <Switch
        size="xs"
        label="Show views"
        checked={withReads}
        onChange={() => setParameters(withReads ? {} : { reads: 'true' }, { preventScrollReset: true })}
      />
      <More first={list.activity} next={list.next} pick={(page: ActivityList) => page.activity} idOf={({ id }) => id}>
        {(activity) =>
          activity.length === 0 ? (
            <Empty title="No activity yet" />
          ) : (
            <ol>
              {activity.map((each) => (
                <Row key={each.id} activity={each} />
              ))}
            </ol>
          )
        }
      </More>
    </div>
  )
}

function Row({ activity }: { readonly activity: Activity }) {
  const { by, at, action, outcome } = activity
  return (
    <li className={classes.row}>
      <Initials name={by?.name ?? '…'} />
      <p>
        <strong>{by?.name ?? 'The command line'}</strong> <Deed activity={activity} />
        {outcome === 'refused' && !refusals.has(action) && <span className={classes.refused}> and was refused</span>}
      </p>
      <span className={classes.time}>
        <Ago time={at} />
      </span>
    </li>
  )
}

const verbs: Readonly<Record<string, string>> = {
  read: 'viewed',
  created: 'added',
  changed: 'changed',
  imported: 'imported',
  archived: 'archived',
  restored: 'restored',
  approved: 'approved',
  sent: 'sent',
  mailed: 'mailed',
}

/** What was done to an item. */
const deeds: Readonly<Record<string, string>> = {
  letter_version_created: 'started a new version of',
  letter_exported: 'downloaded',
  letter_review_asked: 'asked for a review of',
  letter_review_returned: 'returned',
  letter_review_withdrawn: 'withdrew a review of',
  document_content_read: 'opened',
  task_done: 'completed',
  revisions_read: 'viewed earlier versions of',
}

/** What was done, without an item. */
const looks: Readonly<Record<string, string>> = {
  notes_listed: 'viewed the notes',
  disputes_listed: 'viewed the disputes',
  letters_listed: 'viewed the letters',
  letter_reviews_listed: 'viewed the reviews of a letter',
  letter_mails_listed: 'viewed the mails with a letter',
  documents_listed: 'viewed the documents',
  tasks_listed: 'viewed the tasks',
  contacts_listed: 'viewed the contacts',
  upload_started: 'began to upload a file',
  upload_continued: 'uploaded a file, or a part of one',
  upload_read: 'viewed the state of an upload',
  timer_read: 'viewed the timer',
  timer_started: 'started a timer',
  timer_stopped: 'stopped the timer',
  timer_ended: 'ended the timer',
  activity_read: 'viewed the activity',
  client_unarchived: 'restored the client from the archive',
  client_assigned: 'assigned the client to another consultant',
  access_denied: 'was denied access',
  record_not_found: 'opened something that does not exist',
}

/** Actions that say that something was refused. */
const refusals: ReadonlySet<string> = new Set(['access_denied', 'record_not_found'])

/** `time_entry_created` → `time_entry`, `created`. */
const splitAtLast = (action: string) => [
  action.slice(0, action.lastIndexOf('_')),
  action.slice(action.lastIndexOf('_') + 1),
]

/** `added the letter “Our meeting”`, `changed the text of the note of 12 Mar 2026`. */
function Deed({ activity }: { readonly activity: Activity }) {
  const { action, fields } = activity
  const [name = '', verb = ''] = splitAtLast(action)
  const noun = Object.entries(nouns).find(([each]) => each === name)?.[1]
  const doing = deeds[action] ?? (noun && verbs[verb])
  if (looks[action] !== undefined) return looks[action]
  if (doing === undefined) return `· ${spoken(action)}`
  const names = (verb === 'changed' ? fields : []).map((changed) => {
    const known = name === 'client' ? clientVersionFields() : noun?.fields
    const field = known?.find((each) => each.name === changed)
    return field?.word ?? (field?.label ?? spoken(changed)).toLowerCase()
  })
  return (
    <>
      {doing} {names.length > 0 && `the ${new Intl.ListFormat('en-GB').format(names)} of `}
      <Thing activity={activity} />
    </>
  )
}

/** What was acted on; an item with its title, which leads to it. */
function Thing({ activity: { noun, noun_id: id, title } }: { readonly activity: Activity }) {
  const record = useRecord()
  const words = Object.entries(nouns).find(([each]) => each === noun)?.[1]
  if (!words || noun === 'client') return 'the client'
  if (id === null || title === null) return `${words.one.startsWith('e') ? 'an' : 'a'} ${words.one}`
  const to = `/clients/${record.id}/${words.path}/${id}`
  if (noun === 'letter' || noun === 'document' || noun === 'task' || noun === 'contact') {
    return (
      <>
        the {words.one} “<Link to={to}>{title}</Link>”
      </>
    )
  }
  return (
    <>
      the {words.one} of <Link to={to}>{noun === 'dispute' ? title : dateText(title)}</Link>
    </>
  )
}
