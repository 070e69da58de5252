//! An ONNX file as nodes and constants; names and values stay in the file.
//!
//! Field numbers are those of `onnx.proto` (ONNX 1.12, IR version 8). Fields that a BERT does not
//! need are passed over.

use std::ops::Range;

use crate::error::{LeanError, Result};
use crate::wire::{Fields, Value};

/// Element types of constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Float = 1,
    Int8 = 3,
    Int64 = 7,
}

impl Element {
    fn bytes(self) -> usize {
        match self {
            Self::Float => 4,
            Self::Int8 => 1,
            Self::Int64 => 8,
        }
    }
}

/// A constant, row-major, little-endian.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constant {
    /// Its axes.
    pub(crate) shape: Vec<usize>,
    element: u64,
    /// Where its values lie in the file.
    pub(crate) place: Range<usize>,
}

impl Constant {
    /// One without values.
    pub(crate) const NONE: Self = Self {
        shape: Vec::new(),
        element: 0,
        place: 0..0,
    };

    /// Whether it has this type, and as many values as its shape says.
    pub(crate) fn is(&self, element: Element) -> bool {
        let values = self
            .shape
            .iter()
            .try_fold(element.bytes(), |bytes, axis| bytes.checked_mul(*axis));
        self.element == element as u64 && values == Some(self.place.len())
    }
}

/// One operation; inputs and outputs are names of values.
#[derive(Debug, Default)]
pub(crate) struct Node<'f> {
    pub(crate) op: &'f str,
    pub(crate) inputs: Vec<&'f str>,
    pub(crate) outputs: Vec<&'f str>,
    attributes: Vec<Attribute<'f>>,
}

#[derive(Debug, Default)]
struct Attribute<'f> {
    name: &'f str,
    float: f32,
    integers: Vec<i64>,
}

impl<'f> Node<'f> {
    /// One without a name.
    pub(crate) const NONE: Self = Self {
        op: "",
        inputs: Vec::new(),
        outputs: Vec::new(),
        attributes: Vec::new(),
    };

    /// The name of its first output.
    pub(crate) fn output(&self) -> &'f str {
        self.outputs.first().copied().unwrap_or_default()
    }

    /// The integers of an attribute; empty if it is not there.
    pub(crate) fn integers(&self, name: &str) -> &[i64] {
        let attribute = self.attributes.iter().find(|found| found.name == name);
        attribute.map_or(&[], |attribute| &attribute.integers)
    }

    /// The float of an attribute.
    pub(crate) fn float(&self, name: &str) -> Option<f32> {
        let attribute = self.attributes.iter().find(|found| found.name == name)?;
        Some(attribute.float)
    }
}

/// Nodes in an order in which they can run, and the constants that they read.
#[derive(Default)]
pub(crate) struct Graph<'f> {
    pub(crate) nodes: Vec<Node<'f>>,
    /// With their names; they are few enough to look through.
    constants: Vec<(&'f str, Constant)>,
}

impl<'f> Graph<'f> {
    /// Reads the graph of a model file.
    pub(crate) fn read(file: &'f [u8]) -> Result<Self> {
        let mut fields = Fields::new(file, 0..file.len());
        let mut graph = None;
        while let Some(field) = fields.next()? {
            if let (7, Value::Bytes(place)) = field {
                graph = Some(Self::read_message(file, place)?);
            }
        }
        graph.ok_or_else(|| LeanError::not_onnx("no graph"))
    }

    fn read_message(file: &'f [u8], place: Range<usize>) -> Result<Self> {
        let mut graph = Self::default();
        let mut fields = Fields::new(file, place);
        while let Some(field) = fields.next()? {
            match field {
                (1, Value::Bytes(place)) => graph.nodes.push(node(file, place)?),
                (5, Value::Bytes(place)) => {
                    graph.constants.push(constant(file, place)?);
                }
                _ => (),
            }
        }
        Ok(graph)
    }

    /// The constant of this name.
    pub(crate) fn constant(&self, name: &str) -> Option<&Constant> {
        let (_, constant) = self.constants.iter().find(|(found, _)| *found == name)?;
        Some(constant)
    }
}

fn node(file: &[u8], place: Range<usize>) -> Result<Node<'_>> {
    let mut node = Node::default();
    let mut fields = Fields::new(file, place);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(place)) => node.inputs.push(text(file, place)?),
            (2, Value::Bytes(place)) => node.outputs.push(text(file, place)?),
            (4, Value::Bytes(place)) => node.op = text(file, place)?,
            (5, Value::Bytes(place)) => node.attributes.push(attribute(file, place)?),
            _ => (),
        }
    }
    Ok(node)
}

fn attribute(file: &[u8], place: Range<usize>) -> Result<Attribute<'_>> {
    let mut attribute = Attribute::default();
    let mut fields = Fields::new(file, place);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(place)) => attribute.name = text(file, place)?,
            (2, Value::Bits32(bits)) => attribute.float = f32::from_bits(bits),
            (3 | 8, Value::Integer(value)) => attribute.integers.push(value as i64),
            (8, Value::Bytes(place)) => attribute.integers = Fields::new(file, place).packed()?,
            _ => (),
        }
    }
    Ok(attribute)
}

fn constant(file: &[u8], place: Range<usize>) -> Result<(&str, Constant)> {
    let mut name = "";
    let mut constant = Constant::default();
    let mut fields = Fields::new(file, place);
    let axis = |value: i64| usize::try_from(value).unwrap_or(usize::MAX);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Integer(value)) => constant.shape.push(axis(value as i64)),
            (1, Value::Bytes(place)) => {
                let values = Fields::new(file, place).packed()?;
                constant.shape = values.into_iter().map(axis).collect();
            }
            (2, Value::Integer(element)) => constant.element = element,
            (8, Value::Bytes(place)) => name = text(file, place)?,
            (9, Value::Bytes(place)) => constant.place = place,
            _ => (),
        }
    }
    Ok((name, constant))
}

fn text(file: &[u8], place: Range<usize>) -> Result<&str> {
    let bytes = file.get(place).unwrap_or_default();
    std::str::from_utf8(bytes).map_err(|_| LeanError::not_onnx("a name that is not UTF-8"))
}
