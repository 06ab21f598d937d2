//! The arrays of a container, as a scorer asks for them.

use std::sync::Arc;

use safetensors::Dtype;

use super::{Container, invalid};
use crate::model::TensorSource;
use crate::sparse::Storage;
use crate::{Error, Result};

impl Container {
    fn array<T: bytemuck::Pod>(&self, name: &str, expected: Dtype) -> Result<Storage<T>> {
        let Some(entry) = self.tensors.get(name) else {
            return Err(self.invalid(format!("it lacks the array `{name}`")));
        };
        if entry.dtype != expected {
            return Err(self.invalid(format!(
                "its array `{name}` holds {} where {expected} is expected",
                entry.dtype
            )));
        }
        Storage::mapped(
            Arc::clone(&self.bytes) as Arc<dyn AsRef<[u8]> + Send + Sync>,
            entry.range.clone(),
        )
        .ok_or_else(|| self.invalid(format!("its array `{name}` is not aligned")))
    }
}

impl TensorSource for Container {
    fn shape(&self) -> (usize, usize) {
        self.shape
    }

    fn element(&self, name: &str) -> Option<&'static str> {
        Some(match self.tensors.get(name)?.dtype {
            Dtype::U8 => "U8",
            Dtype::U16 => "U16",
            Dtype::U32 => "U32",
            Dtype::U64 => "U64",
            Dtype::I8 => "I8",
            Dtype::I16 => "I16",
            Dtype::F16 => "F16",
            Dtype::F32 => "F32",
            _ => "another type",
        })
    }

    fn u8(&self, name: &str) -> Result<Storage<u8>> {
        self.array(name, Dtype::U8)
    }

    fn u16(&self, name: &str) -> Result<Storage<u16>> {
        self.array(name, Dtype::U16)
    }

    fn u32(&self, name: &str) -> Result<Storage<u32>> {
        self.array(name, Dtype::U32)
    }

    fn u64(&self, name: &str) -> Result<Storage<u64>> {
        self.array(name, Dtype::U64)
    }

    fn i8(&self, name: &str) -> Result<Storage<i8>> {
        self.array(name, Dtype::I8)
    }

    fn i16(&self, name: &str) -> Result<Storage<i16>> {
        self.array(name, Dtype::I16)
    }

    fn f16(&self, name: &str) -> Result<Storage<half::f16>> {
        self.array(name, Dtype::F16)
    }

    fn f32(&self, name: &str) -> Result<Storage<f32>> {
        self.array(name, Dtype::F32)
    }

    fn invalid(&self, message: String) -> Error {
        invalid(&self.path, message)
    }
}
