import { useRevalidator } from 'react-router'
import { change, read } from '../../api.ts'
import type { DraftNeeds } from '../../components/draft.ts'

/** Reads an item again, or restores it, for a form whose save was refused. The page shows the item as it is then. */
export function useItemAgain(address: string): Required<Pick<DraftNeeds, 'reload' | 'restore'>> {
  const { revalidate } = useRevalidator()
  async function shown(work: Promise<object>): Promise<object> {
    const item = await work
    await revalidate()
    return item
  }
  return {
    reload: () => shown(read<object>(address)),
    restore: () => shown(change<object>(`${address}/restore`, { method: 'POST' })),
  }
}
