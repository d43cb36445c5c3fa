-- A change of role or status ends the timer of the person. A hand-over ends those of people who no longer see the client, and its deletion
-- all of them. Runs as the owner: people may not remove the timers of others.
create or replace function end_timers() returns trigger language plpgsql security definer set search_path from current as $$
declare
  v_proof text := coalesce(current_setting('tollgate.proof', true), '');
begin
  perform set_config('tollgate.proof', 'on', true);
  if tg_table_name = 'person' then
    delete from timer where person_id = new.id;
  else
    delete from timer
    where client_id = new.id and (new.deleted_at is not null or person_id <> new.consultant_id and not is_partner(person_id));
  end if;
  perform set_config('tollgate.proof', v_proof, true);
  return null;
end $$;
create or replace trigger timers_ended after update of role, status on person for each row
  when (old.role is distinct from new.role or old.status is distinct from new.status) execute function end_timers();
create or replace trigger timers_ended after update of consultant_id, deleted_at on client for each row
  when (old.consultant_id is distinct from new.consultant_id or new.deleted_at is not null) execute function end_timers();
