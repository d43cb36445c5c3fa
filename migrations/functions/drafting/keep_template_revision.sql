-- Runs as the owner: no portal role may write revisions.
create or replace function keep_template_revision() returns trigger
language plpgsql security definer set search_path from current as $$
begin
  insert into letter_template_revision (template_id, version, at, person_id, removed, data)
  values (new.id, new.version, new.updated_at, portal_person(), new.removed_at is not null,
    jsonb_build_object('kind', new.kind, 'name', new.name, 'instructions', new.instructions, 'is_default', new.is_default));
  return null;
end $$;
