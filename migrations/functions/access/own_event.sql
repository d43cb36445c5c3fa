-- The last event that this transaction wrote to the audit log. `tollgate.event` names it, but so may anyone who runs SQL: the event of
-- another transaction does not announce a change of this one.
create or replace function own_event() returns bigint language plpgsql stable set search_path from current as $$
begin
  return (select id from audit where id = nullif(current_setting('tollgate.event', true), '')::bigint
    and xmin = pg_current_xact_id()::xid);
end $$;
