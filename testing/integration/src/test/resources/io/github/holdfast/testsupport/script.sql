-- A statement separator inside a literal is not one
create table script_ran (name varchar(20));
insert into script_ran values ('yes; it did');
