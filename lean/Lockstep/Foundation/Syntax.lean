prelude
import Lockstep.Foundation.Base
set_option compiler.extract_closed false
/-! Parsers and macros that the toolchain binary already contains.  Only names are
declared here; the interpreter binds them to the compiled symbols. -/
@[term_parser] opaque «term_=_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_=_»] opaque «_aux_Init_Notation___macroRules_term_=__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_=_»] opaque «_aux_Init_Notation___macroRules_term_=__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_≠_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_≠_»] opaque «_aux_Init_Core___macroRules_term_≠__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_≠_»] opaque «_aux_Init_Core___macroRules_term_≠__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_∧_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_∧_»] opaque «_aux_Init_Notation___macroRules_term_∧__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_∨_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_∨_»] opaque «_aux_Init_Notation___macroRules_term_∨__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_↔_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_↔_»] opaque «_aux_Init_Core___macroRules_term_↔__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_+_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_+_»] opaque «_aux_Init_Notation___macroRules_term_+__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_+_»] opaque «_aux_Init_Notation___macroRules_term_+__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_-_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_-_»] opaque «_aux_Init_Notation___macroRules_term_-__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_-_»] opaque «_aux_Init_Notation___macroRules_term_-__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_*_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_*_»] opaque «_aux_Init_Notation___macroRules_term_*__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_*_»] opaque «_aux_Init_Notation___macroRules_term_*__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_/_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_/_»] opaque «_aux_Init_Notation___macroRules_term_/__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_/_»] opaque «_aux_Init_Notation___macroRules_term_/__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_%_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_%_»] opaque «_aux_Init_Notation___macroRules_term_%__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_%_»] opaque «_aux_Init_Notation___macroRules_term_%__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_^_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_^_»] opaque «_aux_Init_Notation___macroRules_term_^__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_^_»] opaque «_aux_Init_Notation___macroRules_term_^__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_<_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_<_»] opaque «_aux_Init_Notation___macroRules_term_<__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_<_»] opaque «_aux_Init_Notation___macroRules_term_<__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_≤_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_≤_»] opaque «_aux_Init_Notation___macroRules_term_≤__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_≤_»] opaque «_aux_Init_Notation___macroRules_term_≤__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_>_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_>_»] opaque «_aux_Init_Notation___macroRules_term_>__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_>_»] opaque «_aux_Init_Notation___macroRules_term_>__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_≥_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_≥_»] opaque «_aux_Init_Notation___macroRules_term_≥__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_≥_»] opaque «_aux_Init_Notation___macroRules_term_≥__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_<=_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_<=_»] opaque «_aux_Init_Notation___macroRules_term_<=__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_<=_»] opaque «_aux_Init_Notation___macroRules_term_<=__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_>=_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_>=_»] opaque «_aux_Init_Notation___macroRules_term_>=__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_>=_»] opaque «_aux_Init_Notation___macroRules_term_>=__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_::_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_::_»] opaque «_aux_Init_Notation___macroRules_term_::__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_++_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_++_»] opaque «_aux_Init_Notation___macroRules_term_++__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_++_»] opaque «_aux_Init_Notation___macroRules_term_++__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_==_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_==_»] opaque «_aux_Init_Notation___macroRules_term_==__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_==_»] opaque «_aux_Init_Notation___macroRules_term_==__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_!=_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_!=_»] opaque «_aux_Init_Core___macroRules_term_!=__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term_!=_»] opaque «_aux_Init_Core___macroRules_term_!=__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_&&_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_&&_»] opaque «_aux_Init_Notation___macroRules_term_&&__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_||_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_||_»] opaque «_aux_Init_Notation___macroRules_term_||__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_∘_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_∘_»] opaque «_aux_Init_Notation___macroRules_term_∘__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_∣_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_∣_»] opaque «_aux_Init_Notation___macroRules_term_∣__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_<|_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_<|_»] opaque «_aux_Init_Notation___macroRules_term_<|__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_|>_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_|>_»] opaque «_aux_Init_Notation___macroRules_term_|>__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_∈_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_∈_»] opaque «_aux_Init_Notation___macroRules_term_∈__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_∉_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_∉_»] opaque «_aux_Init_Notation___macroRules_term_∉__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
opaque Lean.binderIdent : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.unbracketedExplicitBinders : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.bracketedExplicitBinders : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.explicitBinders : Lean.ParserDescr := ⟨0, 0⟩
@[term_parser] opaque «term¬_» : Lean.ParserDescr := ⟨0, 0⟩
@[macro «term¬_»] opaque «_aux_Init_Notation___macroRules_term¬__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term!_» : Lean.ParserDescr := ⟨0, 0⟩
@[macro «term!_»] opaque «_aux_Init_Notation___macroRules_term!__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term[_]» : Lean.ParserDescr := ⟨0, 0⟩
@[term_parser] opaque termIfThenElse : Lean.ParserDescr := ⟨0, 0⟩
@[macro termIfThenElse] opaque _aux_Init_Notation___macroRules_termIfThenElse_1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque termDepIfThenElse : Lean.ParserDescr := ⟨0, 0⟩
@[macro termDepIfThenElse] opaque _aux_Init_Notation___macroRules_termDepIfThenElse_1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque boolIfThenElse : Lean.ParserDescr := ⟨0, 0⟩
@[macro boolIfThenElse] opaque _aux_Init_Notation___macroRules_boolIfThenElse_1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term∃_,_» : Lean.ParserDescr := ⟨0, 0⟩
@[macro «term∃_,_»] opaque «_aux_Init_NotationExtra___macroRules_term∃_,__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term{_:_//_}» : Lean.ParserDescr := ⟨0, 0⟩
@[macro «term{_:_//_}»] opaque «_aux_Init_Notation___macroRules_term{_:_//_}_1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term-_» : Lean.ParserDescr := ⟨0, 0⟩
@[macro «term-_»] opaque «_aux_Init_Notation___macroRules_term-__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term-_»] opaque «_aux_Init_Notation___macroRules_term-__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[term_parser] opaque «term_×_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro «term_×_»] opaque «_aux_Init_Notation___macroRules_term_×__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «term[_]»] opaque Lean.«_aux_Init_Data_List_Notation___macroRules_term[_]_1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
opaque Lean.cdotTk : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.cdot : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.calcFirstStep : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.calcStep : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.calcSteps : Lean.ParserDescr := ⟨0, 0⟩
@[term_parser] opaque Lean.calc : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.calcTactic : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.optConfig : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.configItem : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.posConfigItem : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.negConfigItem : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.valConfigItem : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.config : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.appendConfig : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.location : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.locationWildcard : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.locationHyp : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.locationType : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.rwRule : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.rwRuleSeq : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.elimTarget : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.inductionAltLHS : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.inductionAlt : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.inductionAlts : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.generalizeArg : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.discharger : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.simpPre : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.simpPost : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.simpLemma : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.simpErase : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.simpStar : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.simpArg : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.simpArgs : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.dsimpArg : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.dsimpArgs : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.caseArg : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.simpaArgsRest : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.matchRhs : Lean.ParserDescr := ⟨0, 0⟩
opaque Lean.Parser.Tactic.matchAlts : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.intro : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.intros : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.exact : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.apply : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.refine : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.constructor : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.cases : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.induction : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.assumption : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.contradiction : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.subst : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.rewriteSeq : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.rwSeq : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.rwSeq] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_rwSeq_1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.simp : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.dsimp : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.simpAll : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.unfold : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.split : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.decide : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.eqRefl : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.show : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.change : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.revert : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.clear : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.injection : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.injections : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.generalize : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.specialize : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.congr : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.left : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.right : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.first : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.case : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.skip : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.done : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.fail : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.allGoals : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.anyGoals : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.focus : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.rotateLeft : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.paren : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.symm : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.applyRfl : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.tacticRfl : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticRfl] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticRfl_1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticRfl] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticRfl_2 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticRfl] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticRfl_3 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticRfl] opaque _aux_Init_Core___macroRules_Lean_Parser_Tactic_tacticRfl_1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.tacticExfalso : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticExfalso] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticExfalso_1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.tacticTrivial : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticTrivial] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticTrivial] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_2 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticTrivial] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_3 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticTrivial] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_4 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticTrivial] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_5 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticTrivial] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTrivial_6 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.tacticSorry : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticSorry] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticSorry_1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.simpa : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.exposeNames : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.traceState : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.withReducible : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.failIfSuccess : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.renameI : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.replace : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.rwa : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.tacIfThenElse : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacIfThenElse] opaque Lean.Parser.Tactic._aux_Init_TacticsExtra___macroRules_Lean_Parser_Tactic_tacIfThenElse_1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.tacDepIfThenElse : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacDepIfThenElse] opaque Lean.Parser.Tactic._aux_Init_TacticsExtra___macroRules_Lean_Parser_Tactic_tacDepIfThenElse_1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.tacticSuffices_ : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticSuffices_] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticSuffices__1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.tacticHave__ : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticHave__] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticHave___1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.tacticLet__ : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticLet__] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticLet___1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.«tactic_<;>_» : Lean.TrailingParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.«tactic_<;>_»] opaque Lean.Parser.Tactic.«_aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tactic_<;>__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.tacticTry_ : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticTry_] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticTry__1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.«tacticExists_,,» : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.«tacticExists_,,»] opaque Lean.Parser.Tactic.«_aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticExists_,,_1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.tacticRefine_lift_ : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticRefine_lift_] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticRefine_lift__1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.tacticRepeat_ : Lean.ParserDescr := ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.«tacticNext_=>_» : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.«tacticNext_=>_»] opaque Lean.Parser.Tactic.«_aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticNext_=>__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.«tacticRefine_lift'_» : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.«tacticRefine_lift'_»] opaque Lean.Parser.Tactic.«_aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticRefine_lift'__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.«tacticHave'» : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.«tacticHave'»] opaque Lean.Parser.Tactic.«_aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticHave'_1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.tacticInfer_instance : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticInfer_instance] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticInfer_instance_1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.tacticNofun : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticNofun] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticNofun_1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque Lean.Parser.Tactic.tacticUnhygienic_ : Lean.ParserDescr := ⟨0, 0⟩
@[macro Lean.Parser.Tactic.tacticUnhygienic_] opaque Lean.Parser.Tactic._aux_Init_Tactics___macroRules_Lean_Parser_Tactic_tacticUnhygienic__1 : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[tactic_parser] opaque «tacticBy_cases_:_» : Lean.ParserDescr := ⟨0, 0⟩
@[macro «tacticBy_cases_:_»] opaque «_aux_Init_ByCases___macroRules_tacticBy_cases_:__1» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
@[macro «tacticBy_cases_:_»] opaque «_aux_Init_ByCases___macroRules_tacticBy_cases_:__2» : Lean.Macro := fun _ _ _ => ⟨0, 0⟩
