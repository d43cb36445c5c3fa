import { useLoaderData } from 'react-router'
import type { Task } from '../../../src/clients/schema.ts'
import { InParts } from '../../components/in-parts.tsx'
import { Items } from '../record/items.tsx'
import { newTask } from './words.ts'

/** What is to be done for the client: open tasks by day, then those that are done. */
export function TasksTab() {
  const { tasks } = useLoaderData<{ readonly tasks: readonly Task[] }>()
  return (
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
  )
}
