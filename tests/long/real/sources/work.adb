--  Tasks, protected objects, checks that raise: what ada.sh compiles and runs.
with Ada.Text_IO; use Ada.Text_IO;
with Ada.Command_Line;

procedure Work is
   protected Counter is
      procedure Add (Amount : Integer);
      function Value return Integer;
   private
      Sum : Integer := 0;
   end Counter;

   protected body Counter is
      procedure Add (Amount : Integer) is
      begin
         Sum := Sum + Amount;
      end Add;
      function Value return Integer is (Sum);
   end Counter;

   type Numbers is array (1 .. 10) of Integer;
   Table : Numbers := (others => 1);

   function At_Place (Place : Integer) return Integer is (Table (Place));

   task type Worker is
      entry Start (Number : Integer);
   end Worker;

   task body Worker is
      Mine : Integer;
   begin
      accept Start (Number : Integer) do
         Mine := Number;
      end Start;
      for Round in 1 .. 1000 loop
         Counter.Add (Mine);
      end loop;
   end Worker;
begin
   declare
      Workers : array (1 .. 6) of Worker;
   begin
      for Index in Workers'Range loop
         Workers (Index).Start (Index);
      end loop;
   end;
   Put_Line (Integer'Image (Counter.Value));
   begin
      Put_Line (Integer'Image (At_Place (Counter.Value)));
   exception
      when Constraint_Error => Put_Line ("out of range");
   end;
   begin
      Table (1) := Counter.Value - 21000;
      Put_Line (Integer'Image (100 / Table (1)));
   exception
      when Constraint_Error => Put_Line ("division by zero");
   end;
   select
      delay 0.05;
      Put_Line ("after a delay");
   then abort
      loop
         Counter.Add (0);
         delay 0.001;
      end loop;
   end select;
   Ada.Command_Line.Set_Exit_Status (8);
end Work;
