//! Arithmetic of numbers without a sign.
//!
//! Addresses, sizes and times are such numbers, and an integer in a query has a sign. The engine would make decimals of a
//! mixed pair, so that `address / 4096` had a fraction, and let a difference of two addresses wrap round.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::sqlparser::ast::BinaryOperator;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator};
use datafusion::prelude::cast;

/// Converts an integer beside a number without a sign to such a number, and differences to numbers with a sign.
#[derive(Debug)]
pub struct Integers;

impl ExprPlanner for Integers {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let Some(op) = known(&expr.op) else {
            return Ok(PlannerResult::Original(expr));
        };
        let is_unsigned = |side: &Expr| matches!(side.get_type(schema), Ok(DataType::UInt64));
        let (left, right) = match (is_unsigned(&expr.left), is_unsigned(&expr.right), op) {
            (true, true, Operator::Minus) => (signed(&expr.left), signed(&expr.right)),
            (true, _, Operator::Minus) if is_integer(&expr.right) => (signed(&expr.left), expr.right.clone()),
            (_, true, Operator::Minus) if is_integer(&expr.left) => (expr.left.clone(), signed(&expr.right)),
            (true, false, _) => match unsigned(&expr.right) {
                Some(right) => (expr.left.clone(), right),
                None => return Ok(PlannerResult::Original(expr)),
            },
            (false, true, _) => match unsigned(&expr.left) {
                Some(left) => (left, expr.right.clone()),
                None => return Ok(PlannerResult::Original(expr)),
            },
            _ => return Ok(PlannerResult::Original(expr)),
        };
        let planned = BinaryExpr::new(Box::new(left), op, Box::new(right));
        Ok(PlannerResult::Planned(Expr::BinaryExpr(planned)))
    }
}

fn known(op: &BinaryOperator) -> Option<Operator> {
    Some(match op {
        BinaryOperator::Plus => Operator::Plus,
        BinaryOperator::Minus => Operator::Minus,
        BinaryOperator::Multiply => Operator::Multiply,
        BinaryOperator::Divide => Operator::Divide,
        BinaryOperator::Modulo => Operator::Modulo,
        BinaryOperator::Eq => Operator::Eq,
        BinaryOperator::NotEq => Operator::NotEq,
        BinaryOperator::Lt => Operator::Lt,
        BinaryOperator::LtEq => Operator::LtEq,
        BinaryOperator::Gt => Operator::Gt,
        BinaryOperator::GtEq => Operator::GtEq,
        BinaryOperator::BitwiseAnd => Operator::BitwiseAnd,
        BinaryOperator::BitwiseOr => Operator::BitwiseOr,
        BinaryOperator::BitwiseXor => Operator::BitwiseXor,
        BinaryOperator::PGBitwiseShiftLeft => Operator::BitwiseShiftLeft,
        BinaryOperator::PGBitwiseShiftRight => Operator::BitwiseShiftRight,
        _ => return None,
    })
}

fn is_integer(side: &Expr) -> bool {
    matches!(side, Expr::Literal(ScalarValue::Int64(Some(_)), _))
}

/// From 2^63 on, the engine ends the query with an error.
fn signed(side: &Expr) -> Expr {
    cast(side.clone(), DataType::Int64)
}

/// An integer of the query, if it has no sign.
fn unsigned(side: &Expr) -> Option<Expr> {
    match side {
        Expr::Literal(ScalarValue::Int64(Some(number)), metadata) => {
            let number = u64::try_from(*number).ok()?;
            Some(Expr::Literal(ScalarValue::UInt64(Some(number)), metadata.clone()))
        }
        _ => None,
    }
}
