/** No client stays assigned to a deleted person: assignments and the deletion wait for each other. */
export { lockAssignments, preventAssignments } from './assignment-lock-store.ts'
