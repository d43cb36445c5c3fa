import { useLoaderData } from 'react-router'
import type { Task } from '../../../src/clients/schema.ts'
import { InParts } from '../../components/in-parts.tsx'
import { Items } from '../record/items.tsx'
import { Deadlines } from './deadlines.tsx'
import { newTask } from './words.ts'

/** What is to be done for the client: the disputes to answer, open tasks by day, then those that are done. */
export function TasksTab() {
  const { tasks } = useLoaderData<{ readonly tasks: readonly Task[] }>()
  return (
    <>
      <Deadlines />
      <InParts all={tasks}>
        {(shown) => (
          <Items
            noun="task"
            items={shown}
            blank={newTask}
            emptyText="Write down what is to be done for this client, and by when. Tasks move with the client when it is handed over."
          />
        )}
      </InParts>
    </>
  )
}
