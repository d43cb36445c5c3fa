-- Lists an entry if it is to be billed. Only with `tollgate.proof` does the owner see records.
create or replace function list_entry(p_entry uuid) returns void
language plpgsql security definer set search_path from current as $$
declare
  v_proof constant text := coalesce(current_setting('tollgate.proof', true), '');
begin
  perform set_config('tollgate.proof', 'on', true);
  insert into unbilled (kind, id, day, client_id, amount)
    select e.kind, e.id, e.date, e.client_id, e.amount
    from (select 'time' as kind, id, date, client_id, half_even(minutes * rate, 60) as amount from time_entry
        where id = p_entry and billable and archived_at is null
      union all
      select 'expense', id, date, client_id, amount from expense where id = p_entry and billable and archived_at is null) e
    where not exists (select from billed_entry b where b.entry_id = e.id)
    on conflict do nothing;
  perform set_config('tollgate.proof', v_proof, true);
end $$;
revoke execute on function list_entry(uuid) from public;
