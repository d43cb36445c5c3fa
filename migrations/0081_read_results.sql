-- Results are removed a day after all of them were downloaded, not only one of their files.
alter table batch
  add column output_read boolean not null default false,
  add column errors_read boolean not null default false;
