prelude
import Lockstep.Foundation.Core
/-! Pretty-printing of the operators in messages. -/
@[app_unexpander Eq] opaque _aux_Init_Notation___unexpand_Eq_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander And] opaque _aux_Init_Notation___unexpand_And_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander Or] opaque _aux_Init_Notation___unexpand_Or_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander Not] opaque _aux_Init_Notation___unexpand_Not_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander Iff] opaque _aux_Init_Core___unexpand_Iff_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander Iff] opaque _aux_Init_Core___unexpand_Iff_2 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander Ne] opaque _aux_Init_Core___unexpand_Ne_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander HAdd.hAdd] opaque _aux_Init_Notation___unexpand_HAdd_hAdd_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander HSub.hSub] opaque _aux_Init_Notation___unexpand_HSub_hSub_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander HMul.hMul] opaque _aux_Init_Notation___unexpand_HMul_hMul_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander HDiv.hDiv] opaque _aux_Init_Notation___unexpand_HDiv_hDiv_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander HMod.hMod] opaque _aux_Init_Notation___unexpand_HMod_hMod_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander LE.le] opaque _aux_Init_Notation___unexpand_LE_le_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander LE.le] opaque _aux_Init_Notation___unexpand_LE_le_2 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander LT.lt] opaque _aux_Init_Notation___unexpand_LT_lt_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander List.cons] opaque _aux_Init_Notation___unexpand_List_cons_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander HAppend.hAppend] opaque _aux_Init_Notation___unexpand_HAppend_hAppend_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander BEq.beq] opaque _aux_Init_Notation___unexpand_BEq_beq_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander Bool.and] opaque _aux_Init_Notation___unexpand_Bool_and_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
@[app_unexpander Bool.or] opaque _aux_Init_Notation___unexpand_Bool_or_1 : Lean.PrettyPrinter.Unexpander := fun _ _ _ => ⟨0, 0⟩
