/** No client is left with someone who is deleted: assignments and the deletion wait for each other. */
export { lockAssignments, preventAssignments } from './assignment-lock-store.ts'
