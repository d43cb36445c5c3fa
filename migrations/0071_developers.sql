-- A third role of people: developers see the accounts that they are granted (docs/decisions/0029-developers.md). Version 1.0.0 reads account
-- in a role of the portal only as a partner, and its statements as the owner are not subject to the new policies.
do $$
declare
  v_portal constant text := portal_role('portal');
  v_developer constant text := portal_role('developer');
begin
  if not exists (select from pg_roles where rolname = v_developer) then
    execute format('create role %I nologin', v_developer);
  end if;
  if not exists (select from pg_auth_members where roleid = v_developer::regrole and member = v_portal::regrole) then
    execute format('grant %I to %I', v_developer, v_portal);
  end if;
exception
  when insufficient_privilege then
    raise exception 'the user % may not create roles. Have an administrator run "create role %; grant % to %", then start again',
      current_user, v_developer, v_developer, v_portal
      using errcode = 'insufficient_privilege';
end $$;

alter table person drop constraint person_role_check;
alter table person add constraint person_role_check check (role in ('consultant', 'developer', 'partner'));
alter table invitation drop constraint invitation_role_check;
alter table invitation add constraint invitation_role_check check (role in ('consultant', 'developer', 'partner'));

-- The policies for developers are in the file of granted_accounts().
alter table refusal_day enable row level security;
alter table refused_request enable row level security;
alter table key_limit enable row level security;
alter table api_key enable row level security;
-- Last, so that a migration that waits for others does not keep the till waiting.
alter table account enable row level security;

-- Which accounts a developer sees. It counts only while the person is an active developer.
create table account_grant (
  person_id  uuid not null references person,
  account_id uuid not null references account,
  granted_at timestamptz not null default now(),
  primary key (person_id, account_id)
);
-- In a new database, the file of record_all() creates this trigger.
create constraint trigger recorded after insert or delete or update of account_id, person_id on account_grant
  deferrable initially deferred for each row execute function record_change();

do $$
begin
  execute replace(replace(replace($roles$
    create policy every on account for select to {partner} using (true);
    grant usage on schema {schema} to {developer};
    grant select (id, name, status, requests_per_minute, tokens_per_minute, monthly_limit, credited, charged, held, month, month_charged,
      created_at, closed_at) on account to {developer};
    grant select (id, account_id, requests_per_minute, tokens_per_minute, daily_budget, monthly_budget, held, day, day_charged, month,
      month_charged) on key_limit to {developer};
    grant select (id, public_id, account_id, name, allowed_models, created_at, expires_at, revoked_at, replaced_by, last_used_at, person_id,
      limit_id) on api_key to {developer};
    grant select (at, request_id, account_id, key_id, model, input_tokens, output_tokens, cost, stop_reason, milliseconds, cached_tokens,
      cache_write_tokens) on ledger to {developer};
    grant select (day, account_id, key_id, model, requests, input_tokens, output_tokens, cost, cached_tokens, cache_write_tokens)
      on usage_day to {developer};
    grant select on refusal_day, refused_request to {developer};
  $roles$, '{partner}', portal_role('partner')), '{developer}', portal_role('developer')), '{schema}', quote_ident(current_schema()));
end $$;
