import { useCallback, useState } from 'react'

/**
 * The items of a list whose forms are open, each as it was when its form opened, so that no text is lost if someone else removes or
 * moves the item. `removed` are those that are no longer among `items`.
 */
export function useEdited<Item extends { readonly id: string }>(items: readonly Item[]) {
  const [edited, setEdited] = useState<ReadonlyMap<string, Item>>(new Map())
  const onEditing = useCallback((item: Item, isEditing: boolean) => {
    setEdited((before) => {
      const after = new Map(before)
      if (isEditing) after.set(item.id, item)
      else after.delete(item.id)
      return after
    })
  }, [])
  const removed = [...edited.values()].filter(({ id }) => !items.some((item) => item.id === id))
  return { edited, removed, onEditing }
}
