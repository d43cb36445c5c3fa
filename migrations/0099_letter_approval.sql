-- Who may approve letters: docs/decisions/0037-review-of-letters.md.

-- `letters.approval` of the configuration. At most one row; each start that finds another rule writes its own. Without a row, anyone may approve.
create table letter_approval (
  only_row boolean primary key default true check (only_row),
  rule     text not null check (rule in ('anyone', 'not-writer', 'partners'))
);
-- In a new database, the file of record_all() creates this trigger.
create constraint trigger recorded after insert or delete or update of only_row, rule on letter_approval
  deferrable initially deferred for each row execute function record_change();

do $$
begin
  execute replace(replace('grant select on letter_approval to {consultant}, {partner}',
    '{consultant}', portal_role('consultant')), '{partner}', portal_role('partner'));
end $$;
