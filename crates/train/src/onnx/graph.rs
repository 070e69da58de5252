//! A graph under construction: every value has a name, every node is named after its output.

use prost::Message;

use super::messages::{
    Attribute, AttributeKind, DataType, Dimension, GraphMessage, Model, Node, OperatorSet, Shape,
    TensorMessage, TensorType, ValueInfo, ValueType,
};

/// Version of ONNX's operators that the nodes are written in.
const OPSET: i64 = 17;
/// Version of the file format that goes with [`OPSET`].
const IR_VERSION: i64 = 8;

/// An axis of an input or output.
pub enum Axis {
    /// A fixed length.
    Fixed(usize),
    /// A length known when the network runs.
    Named(&'static str),
}

/// A graph under construction.
#[derive(Default)]
pub struct Graph {
    message: GraphMessage,
}

impl Graph {
    /// Adds the node `op` with one output `name`, and returns that name.
    pub fn node(&mut self, op: &str, name: &str, inputs: &[&str]) -> String {
        self.node_with(op, name, inputs, vec![])
    }

    /// As [`Graph::node`], with attributes.
    pub fn node_with(
        &mut self,
        op: &str,
        name: &str,
        inputs: &[&str],
        attributes: Vec<Attribute>,
    ) -> String {
        self.wide_node(op, &[name], inputs, attributes);
        name.to_owned()
    }

    /// Adds the node `op` with the outputs `names`.
    pub fn wide_node(
        &mut self,
        op: &str,
        names: &[&str],
        inputs: &[&str],
        attributes: Vec<Attribute>,
    ) {
        self.message.node.push(Node {
            input: owned(inputs),
            output: owned(names),
            name: names.concat(),
            op_type: op.to_owned(),
            attribute: attributes,
        });
    }

    /// Adds a constant of `shape`, row-major, and returns its name.
    pub fn floats(&mut self, name: &str, shape: &[usize], values: &[f32]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        self.constant(name, shape, DataType::Float, bytes.collect())
    }

    /// As [`Graph::floats`].
    pub fn int8s(&mut self, name: &str, shape: &[usize], values: &[i8]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        self.constant(name, shape, DataType::Int8, bytes.collect())
    }

    /// Adds a vector of integers, and returns its name.
    pub fn integers(&mut self, name: &str, values: &[i64]) -> String {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes());
        self.constant(name, &[values.len()], DataType::Int64, bytes.collect())
    }

    /// Adds a constant without axes, and returns its name.
    pub fn scalar(&mut self, name: &str, value: f32) -> String {
        self.floats(name, &[], &[value])
    }

    /// Declares an input of integers.
    pub fn input(&mut self, name: &str, shape: &[Axis]) {
        self.message.input.push(value(name, DataType::Int64, shape));
    }

    /// Declares the value `name` an output of floats.
    pub fn float_output(&mut self, name: &str, shape: &[Axis]) {
        self.message
            .output
            .push(value(name, DataType::Float, shape));
    }

    /// Declares the value `name` an output of integers.
    pub fn integer_output(&mut self, name: &str, shape: &[Axis]) {
        self.message
            .output
            .push(value(name, DataType::Int64, shape));
    }

    /// The bytes of the finished file.
    pub fn into_bytes(mut self, name: &str) -> Vec<u8> {
        self.message.name = name.to_owned();
        let opset = OperatorSet {
            domain: String::new(),
            version: OPSET,
        };
        let model = Model {
            ir_version: IR_VERSION,
            producer_name: env!("CARGO_PKG_NAME").to_owned(),
            producer_version: env!("CARGO_PKG_VERSION").to_owned(),
            graph: Some(self.message),
            opset_import: vec![opset],
        };
        model.encode_to_vec()
    }

    fn constant(
        &mut self,
        name: &str,
        shape: &[usize],
        data_type: DataType,
        raw_data: Vec<u8>,
    ) -> String {
        self.message.initializer.push(TensorMessage {
            dims: shape.iter().map(|&length| length as i64).collect(),
            data_type: data_type.into(),
            name: name.to_owned(),
            raw_data,
        });
        name.to_owned()
    }
}

/// The attribute `name` with an integer.
pub fn int(name: &str, value: i64) -> Attribute {
    Attribute {
        name: name.to_owned(),
        i: value,
        kind: AttributeKind::Int.into(),
        ..Attribute::default()
    }
}

/// The attribute `name` with integers.
pub fn ints(name: &str, values: &[i64]) -> Attribute {
    Attribute {
        name: name.to_owned(),
        ints: values.to_vec(),
        kind: AttributeKind::Ints.into(),
        ..Attribute::default()
    }
}

/// The attribute `name` with a float.
pub fn float(name: &str, value: f32) -> Attribute {
    Attribute {
        name: name.to_owned(),
        f: value,
        kind: AttributeKind::Float.into(),
        ..Attribute::default()
    }
}

/// The attribute `to` of Cast: 32-bit floats.
pub fn to_float() -> Attribute {
    int("to", i64::from(i32::from(DataType::Float)))
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn value(name: &str, data_type: DataType, shape: &[Axis]) -> ValueInfo {
    let tensor_type = TensorType {
        elem_type: data_type.into(),
        shape: Some(Shape {
            dim: shape.iter().map(dimension).collect(),
        }),
    };
    ValueInfo {
        name: name.to_owned(),
        r#type: Some(ValueType {
            tensor_type: Some(tensor_type),
        }),
    }
}

fn dimension(axis: &Axis) -> Dimension {
    match axis {
        Axis::Fixed(length) => Dimension {
            dim_value: Some(*length as i64),
            dim_param: None,
        },
        Axis::Named(name) => Dimension {
            dim_value: None,
            dim_param: Some((*name).to_owned()),
        },
    }
}
