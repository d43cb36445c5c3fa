import { Link } from 'react-router'
import type { DueTasks } from '../../../src/overview/schema.ts'
import { recordIcons } from '../../components/found.ts'
import { Day } from '../../components/time.tsx'
import { counted } from '../../words.ts'
import classes from './overview.module.css'
import { Section } from './section.tsx'
import { Shortened } from './shortened.tsx'

/** The person's tasks that are overdue, due today or due this week, and for partners how many everyone has. */
export function Tasks({ tasks }: { readonly tasks: DueTasks }) {
  const { items, people = [], today, overdue, due_today, this_week } = tasks
  return (
    <>
      <Section
        title="Tasks"
        aside={totalsOf(tasks)}
        isEmpty={items.length === 0}
        none="You have no task due this week."
      >
        <Shortened of={{ items, total: overdue + due_today + this_week, total_is_exact: true }} atFirst={8}>
          {(task) => <DueTask key={task.id} task={task} today={today} />}
        </Shortened>
      </Section>
      {people.length > 0 && (
        <Section title="Tasks by person" isEmpty={false} none="">
          <Shortened of={{ items: people, total: people.length, total_is_exact: true }} atFirst={8}>
            {({ id, name, ...counts }) => (
              <li key={id} className={classes.row}>
                <div className={classes.text}>
                  <bdi>{name}</bdi>
                </div>
                <span className={classes.end}>
                  {totalsOf({ overdue: counts.overdue, due_today: counts.today, this_week: counts.this_week })}
                </span>
              </li>
            )}
          </Shortened>
        </Section>
      )}
    </>
  )
}

interface DueTaskProps {
  readonly task: DueTasks['items'][number]
  readonly today: string
}

/** A task, or a dispute that has to be answered. */
function DueTask({ task: { noun, id, title, client, due }, today }: DueTaskProps) {
  const TaskIcon = recordIcons[noun]
  return (
    <li className={classes.row}>
      <TaskIcon size={16} stroke={1.6} aria-hidden />
      <div className={classes.text}>
        <Link to={`/clients/${client.id}/${noun}s/${id}`} data-row className={classes.link}>
          {noun === 'dispute' ? `Answer the dispute of ${title}` : title}
        </Link>
        <p>{client.name}</p>
      </div>
      <span className={classes.end}>
        <DueDay due={due} today={today} />
      </span>
    </li>
  )
}

/** `1 overdue · 2 today · 3 this week`, without what there is none of. */
function totalsOf({
  overdue,
  due_today: today,
  this_week: week,
}: Pick<DueTasks, 'overdue' | 'due_today' | 'this_week'>) {
  const parts: readonly (readonly [number, string])[] = [
    [overdue, 'overdue'],
    [today, 'today'],
    [week, 'this week'],
  ]
  return parts.flatMap(([count, when]) => (count === 0 ? [] : [counted(count, when, when)])).join(' · ')
}

function DueDay({ due, today }: { readonly due: string; readonly today: string }) {
  if (due > today) return <Day date={due} />
  return (
    <strong className={classes.pressing}>
      {due === today ? (
        'Today'
      ) : (
        <>
          <Day date={due} />, overdue
        </>
      )}
    </strong>
  )
}
